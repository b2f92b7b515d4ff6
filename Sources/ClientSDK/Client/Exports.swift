// A user's `import FreshetClient` includes the types of the wire protocol: Revision, Cursor, Content, Problem,
// InvalidationScope.
@_exported public import FreshetWire
