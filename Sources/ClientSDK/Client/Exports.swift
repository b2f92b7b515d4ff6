// A user's `import FreshetClient` brings the wire's vocabulary along: Revision, Cursor, Content, Problem, InvalidationScope.
@_exported public import FreshetWire
