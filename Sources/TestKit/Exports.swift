// `import FreshetTestKit` also imports the types of the devices, and the server's configuration.
@_exported public import FreshetClient
@_exported public import FreshetServer
