; Definitions: the whole node, and its name. A decorated definition matches twice: the longer match counts.
(class_definition name: (identifier) @name) @definition.class
(function_definition name: (identifier) @name) @definition.function
(decorated_definition definition: (class_definition name: (identifier) @name)) @definition.class
(decorated_definition definition: (function_definition name: (identifier) @name)) @definition.function

; Uses: called expressions, and decorators that are not calls.
(call function: (_) @callee)
(decorator [(identifier) (attribute)] @decorator)

(import_statement) @import
(import_from_statement) @import_from

; Bindings.
(assignment left: (identifier) @held !type right: (_) @value)
(assignment left: (identifier) type: (_)) @assignment
(assignment left: [(attribute) (pattern_list) (tuple_pattern) (list_pattern)]) @assignment
(augmented_assignment left: (identifier) @extended right: (_) @extension)
(named_expression name: (identifier) @target value: (_) @value)
(type_alias_statement left: (type) @target right: (type) @alias)
(for_statement left: (_) @target right: (_) @iterated)
(for_in_clause left: (_) @target right: (_) @iterated)
(with_item value: (as_pattern (_) @entered alias: (as_pattern_target (_) @target)))
(except_clause value: (as_pattern (_) @caught alias: (as_pattern_target (_) @target)))
(match_statement) @matched
(lambda_parameters) @hiding
(global_statement) @global

; Functions and classes again: inside functions they bind local names.
(function_definition
  name: (identifier) @defined
  parameters: (parameters) @parameters
  return_type: (_)? @declared) @around
(class_definition name: (identifier) @defined) @around
(return_statement (_) @returned)
(yield) @yield
