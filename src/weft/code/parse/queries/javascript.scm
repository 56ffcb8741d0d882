; inherits: ecmascript

; Definitions: the whole node, and its name. An exported definition matches twice: the longer match counts.
(class_declaration name: (identifier) @name) @definition.class
(export_statement declaration: (_ name: (identifier) @name) @_declaration
  (#match? @_declaration "^(async|function)\\b")) @definition.function
(export_statement declaration: (class_declaration name: (identifier) @name)) @definition.class

; Members of classes.
(class_body (field_definition property: (_) @name
  value: [(arrow_function) (function_expression)]) @definition.method)

; Functions and classes without a name take the name that they are exported as.
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

; Functions assigned to a member: `Ship.prototype.sail = function`, `app.use = function`.
(expression_statement (assignment_expression
  left: (member_expression object: (identifier) @receiver property: (property_identifier) @name)
  right: (class))
  (#not-match? @receiver "^(module|exports)$")) @definition.class

; The same in an assignment to several targets: `exports = module.exports = Ship.Bow = class`.
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

; The other nodes that the reader needs.
[
  (field_definition)
] @of
