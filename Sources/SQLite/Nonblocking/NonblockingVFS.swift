internal import CFreshetSQLite

/// A layer over SQLite's own file functions (<https://www.sqlite.org/vfs.html>) in which a connection can read without
/// waiting for the disk.
///
/// It is registered under a separate name, so it is used by connections that name it and by no other of the process.
/// It passes all calls on, unless its connection is in nonblocking mode. Then it reads pages that are in memory, takes and
/// releases shared locks of the log's index, and refuses everything else. A statement that is refused fails with
/// ``wouldBlock``.
enum NonblockingVFS {
    /// `SQLITE_IOERR_BLOCKED`, which SQLite itself no longer uses. The macro is an expression, which Swift cannot
    /// import.
    static let wouldBlock = SQLITE_IOERR | 11 << 8

    /// The name by which connections choose it; `nil` where it cannot be used.
    static let name: String? = standard.flatMap { register(over: $0) ? registeredName : nil }

    private static let registeredName = "freshet-nonblocking"

    /// SQLite's own functions for this system. An app may have put others in their place, such as ones that encrypt:
    /// then the bytes of a file are not what a connection should read.
    nonisolated(unsafe) private static let standard: UnsafeMutablePointer<sqlite3_vfs>? = {
        guard let found = sqlite3_vfs_find(nil), let name = found.pointee.zName, String(cString: name) == "unix" else {
            return nil
        }
        return found
    }()

    /// SQLite keeps the structure and its name until the process ends.
    private static func register(over standard: UnsafeMutablePointer<sqlite3_vfs>) -> Bool {
        let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        let name = UnsafeMutableBufferPointer<CChar>.allocate(capacity: registeredName.utf8.count + 1)
        _ = name.initialize(from: registeredName.utf8CString)
        // The rest of version 3 replaces system calls, for the tests of SQLite.
        layer.initialize(to: standard.pointee)
        layer.pointee.iVersion = 2
        layer.pointee.pNext = nil
        layer.pointee.zName = UnsafePointer(name.baseAddress)
        layer.pointee.szOsFile = Int32(LayeredFile.headerSize) + standard.pointee.szOsFile
        layer.pointee.xOpen = { NonblockingVFS.open($1, $2, $3, $4) }
        passOn(in: layer)
        return sqlite3_vfs_register(layer, 0) == SQLITE_OK
    }

    /// All functions but `xOpen` are those below, called with the structure that they belong to.
    private static func passOn(in layer: UnsafeMutablePointer<sqlite3_vfs>) {
        layer.pointee.xDelete = {
            NonblockingVFS.standard?.pointee.xDelete?(NonblockingVFS.standard, $1, $2) ?? SQLITE_MISUSE
        }
        layer.pointee.xAccess = {
            NonblockingVFS.standard?.pointee.xAccess?(NonblockingVFS.standard, $1, $2, $3) ?? SQLITE_MISUSE
        }
        layer.pointee.xFullPathname = {
            NonblockingVFS.standard?.pointee.xFullPathname?(NonblockingVFS.standard, $1, $2, $3) ?? SQLITE_MISUSE
        }
        layer.pointee.xDlOpen = { NonblockingVFS.standard?.pointee.xDlOpen?(NonblockingVFS.standard, $1) }
        layer.pointee.xDlError = { NonblockingVFS.standard?.pointee.xDlError?(NonblockingVFS.standard, $1, $2) }
        layer.pointee.xDlSym = { NonblockingVFS.standard?.pointee.xDlSym?(NonblockingVFS.standard, $1, $2) }
        layer.pointee.xDlClose = { NonblockingVFS.standard?.pointee.xDlClose?(NonblockingVFS.standard, $1) }
        layer.pointee.xRandomness = {
            NonblockingVFS.standard?.pointee.xRandomness?(NonblockingVFS.standard, $1, $2) ?? 0
        }
        layer.pointee.xSleep = { NonblockingVFS.standard?.pointee.xSleep?(NonblockingVFS.standard, $1) ?? 0 }
        layer.pointee.xCurrentTime = {
            NonblockingVFS.standard?.pointee.xCurrentTime?(NonblockingVFS.standard, $1) ?? SQLITE_ERROR
        }
        layer.pointee.xGetLastError = {
            NonblockingVFS.standard?.pointee.xGetLastError?(NonblockingVFS.standard, $1, $2) ?? 0
        }
        layer.pointee.xCurrentTimeInt64 = {
            NonblockingVFS.standard?.pointee.xCurrentTimeInt64?(NonblockingVFS.standard, $1) ?? SQLITE_ERROR
        }
    }

    /// Opens a file in the memory that SQLite has allocated. Databases and their logs are layered; other files are the
    /// standard functions' alone.
    private static func open(
        _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let file, let standard, let open = standard.pointee.xOpen else { return SQLITE_MISUSE }
        guard let name, flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL) != 0 else {
            return open(standard, name, file, flags, outFlags)
        }
        let layered = LayeredFile(file)
        let database =
            flags & SQLITE_OPEN_WAL == 0 ? nil : sqlite3_database_file_object(name).flatMap { LayeredFile($0).state }
        if database?.mustNotBlock == true { return database?.refuse() ?? wouldBlock }
        var code = SQLITE_OK
        let path = String(cString: name)
        let isOpened = {
            code = open(standard, name, layered.standard, flags, outFlags)
            return code == SQLITE_OK
        }
        if let database {
            let before = FileIdentity(path: path)
            if isOpened() { layered.begin(NonblockingFile(path: path, before: before, logOf: database)) }
        } else if let opened = OpenDatabases.open(path, isOpened) {
            layered.begin(NonblockingFile(path: path, opened: opened))
        } else if code == SQLITE_OK {
            // The path has come to name another file meanwhile. The locks of one that is not counted might be dropped.
            code = SQLITE_CANTOPEN
        }
        // SQLite closes a file that has functions, though it could not be opened.
        if code != SQLITE_OK { layered.abandon() }
        return code
    }
}
