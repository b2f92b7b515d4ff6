import FreshetSQLite

extension String {
    /// Whether this path and another are equal, or lead to the same file or directory.
    func leadsToSameFile(as other: String) -> Bool {
        if self == other { return true }
        guard let identity = FileIdentity(path: self) else { return false }
        return identity == FileIdentity(path: other)
    }
}
