// A suite's `import FreshetTestKit` brings along what its devices are made of, and the server's configuration.
@_exported public import FreshetClient
@_exported public import FreshetServer
