; Definitions. A type declared alone starts at its `type`, a type of a group at its name. The reader determines the sort
; of a type.
(function_declaration name: (identifier) @name) @definition.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @receiver
    (generic_type type: (type_identifier) @receiver)
    (pointer_type (type_identifier) @receiver)
    (pointer_type (generic_type type: (type_identifier) @receiver))
    (parenthesized_type (type_identifier) @receiver)
    (parenthesized_type (pointer_type (type_identifier) @receiver))
  ]))
  name: (field_identifier) @name) @definition.method
(type_declaration . [(type_spec name: (type_identifier) @name) (type_alias name: (type_identifier) @name)] .) @definition.class
(type_spec name: (type_identifier) @name) @definition.class
(type_alias name: (type_identifier) @name) @definition.class
(type_spec type: (interface_type (method_elem name: (field_identifier) @name) @definition.method))
(comment) @leading

; The package, and imports.
(package_clause (package_identifier) @package)
(import_spec) @import

; Bindings: parameters and results, variables, fields, underlying types.
[(function_declaration) (method_declaration) (func_literal)] @function
(short_var_declaration) @short
(range_clause) @range
(receive_statement) @receive
(type_switch_statement alias: (_)) @switch
(var_spec) @var
(const_declaration) @const
(source_file (type_declaration [(type_spec) (type_alias)] @type))
(struct_type (field_declaration_list (field_declaration) @field))
(source_file (type_declaration (type_spec type: (interface_type (method_elem) @element))))
(statement_list (type_declaration [(type_spec) (type_alias)] @local))

; Uses.
(call_expression) @call
(type_conversion_expression type: (generic_type)) @call
(composite_literal) @new
(selector_expression operand: (identifier)) @selector
(qualified_type) @selector
