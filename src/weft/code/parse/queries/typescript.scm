; inherits: ecmascript

; Definitions: the whole node, and its name. An exported definition matches twice: the longer match counts.
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

; A signature without an implementation is a definition; of several overloads the first one.
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

; Definitions in a namespace are qualified with its name.
(internal_module name: (_) @name) @scope
(module name: [(identifier) (nested_identifier)] @name) @scope

; Members of classes.
(class_body (public_field_definition name: (_) @name
  value: [(arrow_function) (function_expression)]) @definition.method)

; Methods of an object that is held by a constant, or is the default export, are qualified with its name.
(lexical_declaration . (variable_declarator name: (identifier) @name
  value: [(as_expression (object)) (satisfies_expression (object))]) .) @scope
(variable_declarator value: [
  (as_expression (object [
    (method_definition name: (property_identifier) @name) @definition.method
    (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @definition.method]))
  (satisfies_expression (object [
    (method_definition name: (property_identifier) @name) @definition.method
    (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @definition.method]))])

; Nodes before a definition that belong to it.
(class_body (decorator) @leading)

; The other nodes that the reader needs.
[
  (abstract_class_declaration) (call_signature) (construct_signature) (function_signature) (import_alias)
  (interface_declaration) (method_signature) (property_signature) (public_field_definition) (type_alias_declaration)
] @of
