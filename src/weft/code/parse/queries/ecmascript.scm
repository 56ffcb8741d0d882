; JavaScript and TypeScript: what both grammars have. Their own queries inherit this one.

; Definitions: the whole node, and its name. An exported definition matches twice: the longer match counts.
(function_declaration name: (identifier) @name) @definition.function
(generator_function_declaration name: (identifier) @name) @definition.function

; Functions and classes held by a variable. Each variable of a declaration with several is a definition of its own.
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

; Functions and classes without a name take the name that they are exported as.
(export_statement "default" @name value: [(arrow_function) (function_expression !name) (generator_function !name)])
  @definition.function
(export_statement "default" value: [(function_expression name: (_) @name) (generator_function name: (_) @name)])
  @definition.function
(export_statement "default" @name value: (class !name)) @definition.class
(export_statement "default" value: (class name: (_) @name)) @definition.class

; Functions assigned to a member: `Ship.prototype.sail = function`, `app.use = function`.
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

; Methods of an object that is held by a constant, or is the default export, are qualified with its name.
(lexical_declaration . (variable_declarator name: (identifier) @name value: (object)) .) @scope
(variable_declaration . (variable_declarator name: (identifier) @name value: (object)) .) @scope
(variable_declarator value: (object [
  (method_definition name: (property_identifier) @name) @definition.method
  (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @definition.method]))
(export_statement "default" @name value: (object)) @scope
(export_statement "default" value: (object [
  (method_definition name: (property_identifier) @name) @definition.method
  (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @definition.method]))

; Tests are named by their titles, and qualified with the titles of the suites around them.
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

; Nodes before a definition that belong to it.
((comment) @leading (#match? @leading "^/[*][*]"))

; The other nodes that the reader needs. JSX elements are matched by their shape: the grammar without JSX has no names for them.
(_ . "<" . name: (_) @tag)
[
  (arrow_function) (assignment_expression) (call_expression) (catch_clause) (class_body) (class_declaration)
  (decorator) (export_statement) (for_in_statement) (for_statement) (function_declaration) (function_expression)
  (generator_function) (generator_function_declaration) (import_statement) (method_definition) (new_expression)
  (return_statement) (statement_block) (switch_body) (variable_declarator)
] @of
