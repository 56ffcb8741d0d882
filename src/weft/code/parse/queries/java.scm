; Definitions: members of named types. Members of anonymous classes belong to the text around them.
(class_declaration name: (identifier) @name) @definition.class
(interface_declaration name: (identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(record_declaration name: (identifier) @name) @definition.class
(annotation_type_declaration name: (identifier) @name) @definition.interface
(class_declaration body: (class_body [
  (method_declaration name: (identifier) @name)
  (constructor_declaration name: (identifier) @name)] @definition.method))
(record_declaration body: (class_body [
  (method_declaration name: (identifier) @name)
  (constructor_declaration name: (identifier) @name)
  (compact_constructor_declaration name: (identifier) @name)] @definition.method))
(enum_body_declarations [
  (method_declaration name: (identifier) @name)
  (constructor_declaration name: (identifier) @name)] @definition.method)
(interface_body (method_declaration name: (identifier) @name) @definition.method)
(annotation_type_body (annotation_type_element_declaration name: (identifier) @name) @definition.method)
((block_comment) @leading (#match? @leading "^/[*][*]"))

; The package, and imports.
(package_declaration [(identifier) (scoped_identifier)] @package)
(import_declaration) @import

; Bindings.
(type_parameters) @generic
[(method_declaration) (constructor_declaration) (record_declaration) (annotation_type_element_declaration)] @taking
(lambda_expression) @lambda
[(field_declaration) (constant_declaration) (local_variable_declaration)] @variable
(enum_constant) @constant
(enhanced_for_statement) @each
(catch_formal_parameter) @catch
(resource name: (identifier)) @resource
(instanceof_expression name: (identifier)) @matched
(type_pattern) @pattern
(record_pattern_component) @pattern
(block [(class_declaration) (interface_declaration) (enum_declaration) (record_declaration)] @local)
(object_creation_expression (class_body)) @anonymous
(enum_constant body: (class_body)) @anonymous

; Uses.
(method_invocation) @call
(object_creation_expression) @new
(explicit_constructor_invocation) @constructor
(method_reference) @reference
