"""JavaScript and TypeScript: names that are there without being defined or imported."""

from __future__ import annotations

from typing import Final

NODE_MODULES: Final = frozenset(
    """
    assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain
    events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl
    sea sqlite stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi worker_threads zlib
    """.split()
)

GLOBALS: Final = frozenset(
    """
    AbortController AbortSignal AggregateError Array ArrayBuffer Atomics BigInt BigInt64Array BigUint64Array Blob
    Boolean Buffer Bun CSS CustomEvent DOMException DOMParser DataView Date Deno Document Element Error EvalError Event
    EventSource EventTarget File FileReader FinalizationRegistry Float32Array Float64Array FormData Function
    HTMLElement Headers Image Infinity Int16Array Int32Array Int8Array IntersectionObserver Intl JSON Map Math
    MessageChannel MutationObserver NaN Node Number Object Option Promise Proxy RangeError ReadableStream
    ReferenceError Reflect RegExp Request ResizeObserver Response Set SharedArrayBuffer String Symbol SyntaxError
    TextDecoder TextEncoder TransformStream TypeError URIError URL URLSearchParams Uint16Array Uint32Array Uint8Array
    Uint8ClampedArray WeakMap WeakRef WeakSet WebAssembly WebSocket Worker WritableStream XMLHttpRequest
    __dirname __filename addEventListener after afterAll afterEach alert arguments assert atob before beforeAll
    beforeEach btoa cancelAnimationFrame clearImmediate clearInterval clearTimeout confirm console context cy
    decodeURI decodeURIComponent define describe dispatchEvent document encodeURI encodeURIComponent escape eval
    expect exports fetch fdescribe fit getComputedStyle global globalThis history import isFinite isNaN it jest
    jQuery localStorage location matchMedia module navigator parseFloat parseInt performance postMessage process
    prompt queueMicrotask removeEventListener reportError requestAnimationFrame requestIdleCallback require self
    sessionStorage setImmediate setInterval setTimeout setup specify structuredClone suite teardown test undefined
    unescape vi window xdescribe xit
    """.split()
)

# Types of the language itself, and of its libraries, whose members are all outside.
TYPES: Final = frozenset(
    """
    any bigint boolean never null number object string symbol undefined unknown void
    AsyncGenerator AsyncIterator Awaited BigInt Boolean CallableFunction Capitalize ConstructorParameters Date Error
    Exclude Extract Function Generator InstanceType Iterator Lowercase Number Object Omit Parameters Pick PropertyKey
    RegExp RegExpExecArray RegExpMatchArray ReturnType String Symbol TemplateStringsArray Uncapitalize Uppercase
    """.split()
)
