internal import FreshetPlatform

extension AbsolutePath {
    /// A path that a user of a cache gives.
    init(ofCache path: String) throws(CacheError) {
        do throws(AbsolutePath.Failure) { try self.init(path) } catch { throw .invalidPath(path: path, reason: error.description) }
    }
}
