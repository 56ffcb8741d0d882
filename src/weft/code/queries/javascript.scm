; Definitions: the whole of each, and its name. What is exported is found twice: the longer match counts.
(function_declaration name: (identifier) @name) @definition.function
(generator_function_declaration name: (identifier) @name) @definition.function
(class_declaration name: (identifier) @name) @definition.class
(export_statement declaration: (_ name: (identifier) @name) @_declaration
  (#match? @_declaration "^(async|function)\\b")) @definition.function
(export_statement declaration: (class_declaration name: (identifier) @name)) @definition.class

; Functions and classes that a variable holds. Of several variables in one declaration each is its own.
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @definition.function
(variable_declarator name: (identifier) @name value: (class)) @definition.class
(lexical_declaration . (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) .) @definition.function
(variable_declaration . (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) .) @definition.function
(lexical_declaration . (variable_declarator name: (identifier) @name value: (class)) .) @definition.class
(variable_declaration . (variable_declarator name: (identifier) @name value: (class)) .) @definition.class
(export_statement declaration: (_ . (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) .)) @definition.function
(export_statement declaration: (_ . (variable_declarator name: (identifier) @name value: (class)) .)) @definition.class

; Members of classes.
(class_body (method_definition name: (_) @name) @definition.method)
(class_body (field_definition property: (_) @name
  value: [(arrow_function) (function_expression)]) @definition.method)

; What has no name of its own is called by what it is exported as.
(export_statement "default" @name value: [(arrow_function) (function_expression !name) (generator_function !name)])
  @definition.function
(export_statement "default" value: [(function_expression name: (_) @name) (generator_function name: (_) @name)])
  @definition.function
(export_statement "default" @name value: (class !name)) @definition.class
(export_statement "default" value: (class name: (_) @name)) @definition.class
(expression_statement (assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @name)
  right: [(arrow_function) (function_expression !name)])
  (#eq? @_module "module") (#eq? @name "exports")) @definition.function
(expression_statement (assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: (function_expression name: (identifier) @name))
  (#eq? @_module "module") (#eq? @_exports "exports")) @definition.function
(expression_statement (assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @name)
  right: (class !name))
  (#eq? @_module "module") (#eq? @name "exports")) @definition.class
(expression_statement (assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: (class name: (_) @name))
  (#eq? @_module "module") (#eq? @_exports "exports")) @definition.class
(expression_statement (assignment_expression
  left: (member_expression object: [(identifier) (member_expression)] @_exports
    property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)])
  (#any-of? @_exports "exports" "module.exports")) @definition.function
(expression_statement (assignment_expression
  left: (member_expression object: [(identifier) (member_expression)] @_exports
    property: (property_identifier) @name)
  right: (class))
  (#any-of? @_exports "exports" "module.exports")) @definition.class
(expression_statement (assignment_expression left: (_) @_exports
  right: (object [
    (method_definition name: (property_identifier) @name) @definition.method
    (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @definition.method]))
  (#eq? @_exports "module.exports"))

; Functions that are put on something: `Ship.prototype.sail = function`, `app.use = function`.
(expression_statement (assignment_expression
  left: (member_expression object: (identifier) @receiver property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)])
  (#not-match? @receiver "^(module|exports)$")) @definition.method
(expression_statement (assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @receiver property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)])
  (#eq? @_prototype "prototype")) @definition.method
(expression_statement (assignment_expression
  left: (member_expression object: (identifier) @receiver property: (property_identifier) @name)
  right: (class))
  (#not-match? @receiver "^(module|exports)$")) @definition.class

; The same where it is assigned to several at once: `exports = module.exports = Ship.Bow = class`.
(expression_statement (assignment_expression right: (assignment_expression
    left: (member_expression object: (identifier) @receiver property: (property_identifier) @name)
    right: [(arrow_function) (function_expression) (generator_function)]))
  (#not-match? @receiver "^(module|exports)$")) @definition.method
(expression_statement (assignment_expression right: (assignment_expression
    left: (member_expression object: (identifier) @receiver property: (property_identifier) @name)
    right: (class)))
  (#not-match? @receiver "^(module|exports)$")) @definition.class
(expression_statement (assignment_expression right: (assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @name)
    right: [(arrow_function) (function_expression !name)]))
  (#eq? @_module "module") (#eq? @name "exports")) @definition.function
(expression_statement (assignment_expression right: (assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @name)
    right: (class !name)))
  (#eq? @_module "module") (#eq? @name "exports")) @definition.class
(expression_statement (assignment_expression right: (assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    right: (function_expression name: (identifier) @name)))
  (#eq? @_module "module") (#eq? @_exports "exports")) @definition.function
(expression_statement (assignment_expression right: (assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    right: (class name: (_) @name)))
  (#eq? @_module "module") (#eq? @_exports "exports")) @definition.class
(lexical_declaration . (variable_declarator name: (identifier) @name
  value: (assignment_expression right: [(arrow_function) (function_expression) (generator_function)])) .) @definition.function
(lexical_declaration . (variable_declarator name: (identifier) @name
  value: (assignment_expression right: (class))) .) @definition.class
(variable_declaration . (variable_declarator name: (identifier) @name
  value: (assignment_expression right: [(arrow_function) (function_expression) (generator_function)])) .) @definition.function
(variable_declaration . (variable_declarator name: (identifier) @name
  value: (assignment_expression right: (class))) .) @definition.class
(expression_statement (assignment_expression right: (assignment_expression right: (assignment_expression
    left: (member_expression object: (identifier) @receiver property: (property_identifier) @name)
    right: [(arrow_function) (function_expression) (generator_function)])))
  (#not-match? @receiver "^(module|exports)$")) @definition.method
(expression_statement (assignment_expression right: (assignment_expression right: (assignment_expression
    left: (member_expression object: (identifier) @receiver property: (property_identifier) @name)
    right: (class))))
  (#not-match? @receiver "^(module|exports)$")) @definition.class
(expression_statement (assignment_expression right: (assignment_expression right: (assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @name)
    right: [(arrow_function) (function_expression !name)])))
  (#eq? @_module "module") (#eq? @name "exports")) @definition.function
(expression_statement (assignment_expression right: (assignment_expression right: (assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @name)
    right: (class !name))))
  (#eq? @_module "module") (#eq? @name "exports")) @definition.class
(expression_statement (assignment_expression right: (assignment_expression right: (assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    right: (function_expression name: (identifier) @name))))
  (#eq? @_module "module") (#eq? @_exports "exports")) @definition.function
(expression_statement (assignment_expression right: (assignment_expression right: (assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    right: (class name: (_) @name))))
  (#eq? @_module "module") (#eq? @_exports "exports")) @definition.class
(lexical_declaration . (variable_declarator name: (identifier) @name
  value: (assignment_expression right: (assignment_expression right: [(arrow_function) (function_expression) (generator_function)]))) .) @definition.function
(lexical_declaration . (variable_declarator name: (identifier) @name
  value: (assignment_expression right: (assignment_expression right: (class)))) .) @definition.class
(variable_declaration . (variable_declarator name: (identifier) @name
  value: (assignment_expression right: (assignment_expression right: [(arrow_function) (function_expression) (generator_function)]))) .) @definition.function
(variable_declaration . (variable_declarator name: (identifier) @name
  value: (assignment_expression right: (assignment_expression right: (class)))) .) @definition.class

; Methods of an object that a constant holds, or that is the default export, are called after it.
(lexical_declaration . (variable_declarator name: (identifier) @name value: (object)) .) @scope
(variable_declaration . (variable_declarator name: (identifier) @name value: (object)) .) @scope
(variable_declarator value: (object [
  (method_definition name: (property_identifier) @name) @definition.method
  (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @definition.method]))
(export_statement "default" @name value: (object)) @scope
(export_statement "default" value: (object [
  (method_definition name: (property_identifier) @name) @definition.method
  (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @definition.method]))

; Tests are called by their titles, and after the suite around them.
(expression_statement (call_expression
  function: [(identifier) @_test (member_expression object: (identifier) @_test)
    (call_expression function: (member_expression object: (identifier) @_test))]
  arguments: (arguments . [
    (string . (string_fragment) @name .) (template_string . (string_fragment) @name .) (string (escape_sequence)) @name]
    [(arrow_function) (function_expression)]))
  (#any-of? @_test "it" "test" "specify")) @definition.function
(expression_statement (call_expression
  function: [(identifier) @_suite (member_expression object: (identifier) @_suite)
    (call_expression function: (member_expression object: (identifier) @_suite))]
  arguments: (arguments . [
    (string . (string_fragment) @name .) (template_string . (string_fragment) @name .) (string (escape_sequence)) @name]
    [(arrow_function) (function_expression)]))
  (#any-of? @_suite "describe" "suite" "context")) @scope

; What stands before a definition and belongs to it.
((comment) @leading (#match? @leading "^/[*][*]"))

; All else that the reader looks at.
(_ . "<" . name: (_) @tag)
[
  (arrow_function) (assignment_expression) (call_expression) (catch_clause) (class_body) (class_declaration)
  (decorator) (export_statement) (field_definition) (for_in_statement) (for_statement) (function_declaration)
  (function_expression) (generator_function) (generator_function_declaration) (import_statement) (method_definition)
  (new_expression) (return_statement) (statement_block) (switch_body) (variable_declarator)
] @of
