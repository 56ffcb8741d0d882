; What is a symbol. @symbol.class and @symbol.function take the whole definition, @name what it is called.
; A decorated definition is found twice, with and without its decorators: the longer one counts.
(class_definition name: (identifier) @name) @symbol.class
(function_definition name: (identifier) @name) @symbol.function
(decorated_definition definition: (class_definition name: (identifier) @name)) @symbol.class
(decorated_definition definition: (function_definition name: (identifier) @name)) @symbol.function
