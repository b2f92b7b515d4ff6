/// The folders of a cache's generations, each named by its number.
enum DiskGeneration {
    static func name(_ generation: UInt32) -> String {
        let digits = String(generation, radix: 16)
        return "g\(String(repeating: "0", count: 8 - digits.utf8.count))\(digits)"
    }

    private static func number(_ name: String) -> UInt32? {
        name.utf8.count == 9 && name.hasPrefix("g") ? UInt32(name.dropFirst(), radix: 16) : nil
    }

    /// Makes an empty generation hold. It is raised before anything is made: that needs no room on a full disk. Call within the
    /// directory's lock.
    static func raise(_ control: DiskControl, _ directory: String) throws(CacheError) {
        try control.setGeneration(next(after: control.generation, directory))
    }

    /// A number that was never used here.
    static func next(after generation: UInt32?, _ directory: String) -> UInt32 {
        // A damaged word is known by its check, but not what it was; a folder with half of all numbers above it was not made here.
        let folders = (DiskFolder.names(in: directory) ?? []).compactMap(number).filter { $0 < 1 << 31 }
        return max(generation ?? 0, folders.max() ?? 0) &+ 1
    }

    /// Whether a name in a directory is that of a generation's folder, with a database or empty.
    static func isGeneration(_ name: String, in directory: String) -> Bool {
        guard number(name) != nil, let names = DiskFolder.names(in: directory + "/" + name) else { return false }
        return names.isEmpty || names.contains(DiskSchema.file)
    }

    static func isAny(in directory: String) -> Bool { (DiskFolder.names(in: directory) ?? []).contains { number($0) != nil } }

    /// Removes the folders of earlier generations, which nobody reads. Later ones may be another process's.
    static func removeAll(before generation: UInt32, _ directory: String) throws(CacheError) {
        var failed: CacheError?
        for name in DiskFolder.names(in: directory) ?? [] {
            guard let found = number(name), found < generation else { continue }
            let failure = DiskFolder.remove(directory + "/" + name)
            if failure != 0 { failed = failed ?? DiskControl.error(failure, directory + "/" + name) }
        }
        if let failed { throw failed }
    }
}
