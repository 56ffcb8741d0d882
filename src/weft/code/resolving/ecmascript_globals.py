"""JavaScript and TypeScript: names that are there without being defined or imported."""

from __future__ import annotations

from typing import Final

_NODE_MODULES: Final = """
    assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain
    events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl sea
    sqlite stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi worker_threads zlib
"""
NODE_MODULES: Final = frozenset(_NODE_MODULES.split())

# Of the language, of browsers and servers, and of what runs tests.
_GLOBALS: Final = """
    __dirname __filename AbortController AbortSignal addEventListener after afterAll afterEach AggregateError alert
    arguments Array ArrayBuffer assert atob Atomics before beforeAll beforeEach BigInt BigInt64Array BigUint64Array
    Blob Boolean btoa Buffer Bun cancelAnimationFrame clearImmediate clearInterval clearTimeout console context CSS
    CustomEvent DataView Date decodeURI decodeURIComponent Deno describe dispatchEvent Document document DOMException
    DOMParser Element encodeURI encodeURIComponent Error escape eval EvalError Event EventSource EventTarget expect
    exports fdescribe fetch File FileReader FinalizationRegistry fit Float32Array Float64Array FormData Function
    getComputedStyle global globalThis Headers history HTMLElement Image import Infinity Int16Array Int32Array
    Int8Array IntersectionObserver Intl isFinite isNaN it Iterator jest jQuery JSON localStorage location Map
    matchMedia Math MessageChannel module MutationObserver NaN navigator Node Number Object parseFloat parseInt
    performance postMessage process Promise Proxy queueMicrotask RangeError ReadableStream ReferenceError Reflect
    RegExp removeEventListener reportError Request requestAnimationFrame requestIdleCallback require ResizeObserver
    Response self sessionStorage Set setImmediate setInterval setTimeout setup SharedArrayBuffer specify String
    structuredClone suite Symbol SyntaxError teardown test TextDecoder TextEncoder TransformStream TypeError
    Uint16Array Uint32Array Uint8Array Uint8ClampedArray undefined unescape URIError URL URLSearchParams vi WeakMap
    WeakRef WeakSet WebAssembly WebSocket window Worker WritableStream xdescribe xit XMLHttpRequest
"""
GLOBALS: Final = frozenset(_GLOBALS.split())

# Types of the language itself, and of its libraries, whose members are all outside.
_TYPES: Final = """
    any AsyncGenerator AsyncIterator Awaited BigInt bigint Boolean boolean CallableFunction Capitalize
    ConstructorParameters Date Error Exclude Extract Function Generator InstanceType Iterator Lowercase never null
    Number number Object object Omit Parameters Pick PropertyKey RegExp RegExpExecArray RegExpMatchArray ReturnType
    String string Symbol symbol TemplateStringsArray Uncapitalize undefined unknown Uppercase void
"""
TYPES: Final = frozenset(_TYPES.split())
