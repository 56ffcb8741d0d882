; Definitions: the whole node, and its name.
(struct_item name: (type_identifier) @name) @definition.struct
(union_item name: (type_identifier) @name) @definition.struct
(enum_item name: (type_identifier) @name) @definition.enum
(trait_item name: (type_identifier) @name) @definition.trait
(function_item name: (identifier) @name) @definition.function
(function_signature_item name: (identifier) @name) @definition.function
(macro_definition name: (identifier) @name) @definition.function

; Nodes before a definition that belong to it.
(attribute_item) @leading
(line_comment outer: (_)) @leading
(block_comment outer: (_)) @leading

; Scopes: inline modules, and implementations, named after their type.
(mod_item name: (identifier) @name body: (_)) @scope
(impl_item type: [
  (type_identifier) @name
  (primitive_type) @name
  (tuple_type) @name
  (unit_type) @name
  (array_type) @name
  (pointer_type) @name
  (function_type) @name
  (generic_type type: (type_identifier) @name)
  (generic_type type: (scoped_type_identifier name: (type_identifier) @name))
  (scoped_type_identifier name: (type_identifier) @name)
  (dynamic_type trait: (type_identifier) @name)
  (dynamic_type trait: (scoped_type_identifier name: (type_identifier) @name))
  (dynamic_type trait: (generic_type type: (type_identifier) @name))
  (reference_type type: [
    (type_identifier) @name
    (primitive_type) @name
    (tuple_type) @name
    (array_type) @name
    (generic_type type: (type_identifier) @name)
    (generic_type type: (scoped_type_identifier name: (type_identifier) @name))
    (scoped_type_identifier name: (type_identifier) @name)
    (dynamic_type trait: (type_identifier) @name)
  ])
]) @scope

; The nodes that the reader takes everything else from.
(mod_item) @module
(impl_item) @impl
(trait_item) @trait
[(struct_item) (union_item)] @struct
(enum_item) @enum
[(function_item) (function_signature_item)] @function
[(type_item) (associated_type)] @type
[(const_item) (static_item)] @constant
(use_declaration) @use
(extern_crate_declaration) @crate
(macro_invocation) @macro
(macro_definition) @rules
(let_declaration) @let
(let_condition) @condition
(match_arm) @arm
(for_expression) @for
(closure_expression) @closure
(call_expression) @call
(struct_expression) @new
(arguments [(scoped_identifier) (identifier) (generic_function)] @value)
(field_initializer value: [(scoped_identifier) (identifier)] @value)
