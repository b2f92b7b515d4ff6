internal import CFreshetSQLite
internal import Synchronization

/// An open file of ``NonblockingVFS``. SQLite allocates its memory: a header, which begins as SQLite demands, and the
/// standard functions' file.
struct LayeredFile {
    /// The functions, and the file's ``NonblockingFile``; a multiple of 16, for the alignment of the file that follows.
    static let headerSize = 16
    private static let stateOffset = MemoryLayout<UnsafeRawPointer>.size

    private let memory: UnsafeMutableRawPointer

    init(_ file: UnsafeMutablePointer<sqlite3_file>) { memory = UnsafeMutableRawPointer(file) }

    /// The file as the standard functions know it.
    var standard: UnsafeMutablePointer<sqlite3_file> {
        (memory + Self.headerSize).assumingMemoryBound(to: sqlite3_file.self)
    }

    /// `nil` for a file that is not layered.
    var state: NonblockingFile? {
        guard memory.assumingMemoryBound(to: sqlite3_file.self).pointee.pMethods == Self.functions else { return nil }
        return retained?.takeUnretainedValue()
    }

    private var retained: Unmanaged<NonblockingFile>? {
        memory.load(fromByteOffset: Self.stateOffset, as: UnsafeRawPointer?.self).map { Unmanaged.fromOpaque($0) }
    }

    /// After the standard functions have opened the file.
    func begin(_ state: NonblockingFile) {
        let retained = UnsafeRawPointer(Unmanaged.passRetained(state).toOpaque())
        memory.storeBytes(of: retained, toByteOffset: Self.stateOffset, as: UnsafeRawPointer?.self)
        memory.storeBytes(of: Self.functions, as: UnsafePointer<sqlite3_io_methods>?.self)
    }

    /// After they could not open it.
    func abandon() {
        if let methods = standard.pointee.pMethods { _ = methods.pointee.xClose?(standard) }
        memory.storeBytes(of: nil, as: UnsafePointer<sqlite3_io_methods>?.self)
    }

    private func close() -> Int32 {
        let close = { self.standard.pointee.pMethods?.pointee.xClose?(self.standard) ?? SQLITE_MISUSE }
        let state = retained?.takeRetainedValue()
        return state?.opened.map { OpenDatabases.close($0.identity, close) } ?? close()
    }

    /// Calls a standard function, or refuses to where the connection must not block.
    private static func pass(
        _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ call: (sqlite3_io_methods, UnsafeMutablePointer<sqlite3_file>) -> Int32?
    ) -> Int32 {
        guard let file else { return SQLITE_MISUSE }
        let layered = LayeredFile(file)
        if let state = layered.retained?.takeUnretainedValue(), state.mustNotBlock { return state.refuse() }
        return layered.passOn(call)
    }

    /// Calls a standard function.
    private func passOn(_ call: (sqlite3_io_methods, UnsafeMutablePointer<sqlite3_file>) -> Int32?) -> Int32 {
        guard let methods = standard.pointee.pMethods else { return SQLITE_MISUSE }
        return call(methods.pointee, standard) ?? SQLITE_MISUSE
    }
}

extension LayeredFile {
    /// SQLite's table of a file's functions. Version 2: the third maps the file into memory, where a read may wait for
    /// the disk unnoticed.
    nonisolated(unsafe) private static let functions: UnsafePointer<sqlite3_io_methods> = {
        let functions = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        functions.initialize(to: sqlite3_io_methods())
        functions.pointee.iVersion = 2
        functions.pointee.xClose = { $0.map { LayeredFile($0).close() } ?? SQLITE_MISUSE }
        functions.pointee.xRead = { file, bytes, count, offset in
            if let file, let bytes, let state = LayeredFile(file).retained?.takeUnretainedValue(), state.mustNotBlock {
                return state.read(into: bytes, count: count, at: offset)
            }
            return LayeredFile.pass(file) { $0.xRead?($1, bytes, count, offset) }
        }
        functions.pointee.xWrite = { file, bytes, count, offset in pass(file) { $0.xWrite?($1, bytes, count, offset) } }
        functions.pointee.xTruncate = { file, size in pass(file) { $0.xTruncate?($1, size) } }
        functions.pointee.xSync = { file, flags in pass(file) { $0.xSync?($1, flags) } }
        functions.pointee.xFileSize = { file, size in pass(file) { $0.xFileSize?($1, size) } }
        functions.pointee.xLock = { file, level in pass(file) { $0.xLock?($1, level) } }
        functions.pointee.xUnlock = { file, level in pass(file) { $0.xUnlock?($1, level) } }
        functions.pointee.xCheckReservedLock = { file, result in pass(file) { $0.xCheckReservedLock?($1, result) } }
        functions.pointee.xFileControl = { file, operation, argument in
            pass(file) { $0.xFileControl?($1, operation, argument) }
        }
        functions.pointee.xSectorSize = { $0.map { LayeredFile($0).passOn { $0.xSectorSize?($1) } } ?? 0 }
        functions.pointee.xDeviceCharacteristics = {
            $0.map { LayeredFile($0).passOn { $0.xDeviceCharacteristics?($1) } } ?? 0
        }
        addIndex(to: functions)
        return UnsafePointer(functions)
    }()

    /// The functions of the log's index, which is in memory that processes share.
    private static func addIndex(to functions: UnsafeMutablePointer<sqlite3_io_methods>) {
        functions.pointee.xShmMap = { LayeredFile.mapIndex($0, $1, $2, $3, $4) }
        functions.pointee.xShmLock = { LayeredFile.lockIndex($0, $1, $2, $3) }
        functions.pointee.xShmBarrier = { LayeredFile.orderIndex($0) }
        functions.pointee.xShmUnmap = { file, delete in LayeredFile.pass(file) { $0.xShmUnmap?($1, delete) } }
    }

    private static func mapIndex(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ region: Int32, _ size: Int32, _ isExtended: Int32,
        _ address: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Int32 {
        guard let file, let state = LayeredFile(file).retained?.takeUnretainedValue() else { return SQLITE_MISUSE }
        if state.mustNotBlock { return state.refuse() }
        return state.map(address, size: size) {
            LayeredFile(file).passOn { $0.xShmMap?($1, region, size, isExtended, address) }
        }
    }

    private static func lockIndex(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ offset: Int32, _ count: Int32, _ flags: Int32
    ) -> Int32 {
        guard let file, let state = LayeredFile(file).retained?.takeUnretainedValue() else { return SQLITE_MISUSE }
        let isLimited = state.mustNotBlock
        if isLimited, !state.mayLock(flags) { return state.refuse() }
        let code = LayeredFile(file).passOn { $0.xShmLock?($1, offset, count, flags) }
        // Where another has the lock, SQLite would try again, and sleep in between.
        return isLimited && code != SQLITE_OK ? state.refuse() : code
    }

    /// A barrier between accesses to the index. The standard one also takes the lock with which SQLite opens and closes
    /// the files of the whole process, "for redundancy", and others may hold that while they wait for the disk.
    private static func orderIndex(_ file: UnsafeMutablePointer<sqlite3_file>?) {
        guard let file else { return }
        let layered = LayeredFile(file)
        if let state = layered.retained?.takeUnretainedValue(), state.mustNotBlock {
            atomicMemoryFence(ordering: .sequentiallyConsistent)
        } else {
            layered.standard.pointee.pMethods?.pointee.xShmBarrier?(layered.standard)
        }
    }
}
