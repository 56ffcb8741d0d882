; Definitions: the whole of each, and its name. What is exported is found twice: the longer match counts.
(function_declaration name: (identifier) @name) @definition.function
(generator_function_declaration name: (identifier) @name) @definition.function
(class_declaration name: (type_identifier) @name) @definition.class
(abstract_class_declaration name: (type_identifier) @name) @definition.abstract
(interface_declaration name: (type_identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(export_statement declaration: [
  (function_declaration name: (identifier) @name) (generator_function_declaration name: (identifier) @name)])
  @definition.function
(export_statement declaration: (class_declaration name: (type_identifier) @name)) @definition.class
(export_statement declaration: (abstract_class_declaration name: (type_identifier) @name)) @definition.abstract
(export_statement declaration: (interface_declaration name: (type_identifier) @name)) @definition.interface
(export_statement declaration: (enum_declaration name: (identifier) @name)) @definition.enum
(ambient_declaration (class_declaration name: (type_identifier) @name)) @definition.class
(ambient_declaration (abstract_class_declaration name: (type_identifier) @name)) @definition.abstract
(ambient_declaration (interface_declaration name: (type_identifier) @name)) @definition.interface
(ambient_declaration (enum_declaration name: (identifier) @name)) @definition.enum
(export_statement declaration: (ambient_declaration (class_declaration name: (type_identifier) @name)))
  @definition.class
(export_statement declaration: (ambient_declaration (abstract_class_declaration name: (type_identifier) @name)))
  @definition.abstract
(export_statement declaration: (ambient_declaration (interface_declaration name: (type_identifier) @name)))
  @definition.interface

; A signature is a definition where nothing else will follow: of several for one name (overloads) the first.
(ambient_declaration (function_signature name: (identifier) @name)) @definition.function
(export_statement declaration: (ambient_declaration (function_signature name: (identifier) @name)))
  @definition.function
(class_body (abstract_method_signature name: (_) @name) @definition.method)
(interface_body . (comment)* . [
  (method_signature name: (_) @name)
  (property_signature name: (_) @name type: (type_annotation (function_type)))] @definition.method)
(interface_body (_ name: (_) @_before) . (comment)* . [
  (method_signature name: (_) @name)
  (property_signature name: (_) @name type: (type_annotation (function_type)))] @definition.method
  (#not-eq? @_before @name))
(interface_body [(call_signature) (construct_signature)] . (comment)* . [
  (method_signature name: (_) @name)
  (property_signature name: (_) @name type: (type_annotation (function_type)))] @definition.method)

; What stands in a namespace is called after it.
(internal_module name: (_) @name) @scope
(module name: [(identifier) (nested_identifier)] @name) @scope

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
(class_body (public_field_definition name: (_) @name
  value: [(arrow_function) (function_expression)]) @definition.method)

; What has no name of its own is called by what it is exported as.
(export_statement "default" @name value: [(arrow_function) (function_expression !name) (generator_function !name)])
  @definition.function
(export_statement "default" value: [(function_expression name: (_) @name) (generator_function name: (_) @name)])
  @definition.function
(export_statement "default" @name value: (class !name)) @definition.class
(export_statement "default" value: (class name: (_) @name)) @definition.class

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

; Methods of an object that a constant holds, or that is the default export, are called after it.
(lexical_declaration . (variable_declarator name: (identifier) @name value: (object)) .) @scope
(variable_declaration . (variable_declarator name: (identifier) @name value: (object)) .) @scope
(lexical_declaration . (variable_declarator name: (identifier) @name
  value: [(as_expression (object)) (satisfies_expression (object))]) .) @scope
(variable_declarator value: [
  (object [
    (method_definition name: (property_identifier) @name) @definition.method
    (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @definition.method])
  (as_expression (object [
    (method_definition name: (property_identifier) @name) @definition.method
    (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @definition.method]))
  (satisfies_expression (object [
    (method_definition name: (property_identifier) @name) @definition.method
    (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @definition.method]))])
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
(class_body (decorator) @leading)

; All else that the reader looks at. Elements are found by their shape: the grammar without JSX has no names for them.
(_ . "<" . name: (_) @tag)
[
  (abstract_class_declaration) (arrow_function) (assignment_expression) (call_expression) (call_signature)
  (catch_clause) (class_body) (class_declaration) (construct_signature) (decorator) (export_statement) (for_in_statement) (for_statement) (function_declaration)
  (function_expression) (generator_function) (generator_function_declaration) (import_alias) (import_statement)
  (function_signature) (interface_declaration) (method_definition) (method_signature) (new_expression) (property_signature) (public_field_definition)
  (return_statement) (statement_block) (switch_body) (type_alias_declaration) (variable_declarator)
] @of
