internal import FreshetPlatform
internal import FreshetSQLite
internal import Glibc

/// The file that holds the current generation's number of a cache directory. All instances that have the directory open read it.
///
/// Raising the number empties the cache: from then on no instance, in any process, reads an earlier entry. It costs each read one system
/// call, of 8 bytes of a page in memory. The page is mapped only to lock it there: if another process cuts the file, an access to the
/// mapping would end this process, and a system call reports it.
/// The number names a folder, so a new generation never meets an old one's files.
///
/// The number is written with a check as one word, so a damaged word is detected, and one that is read while it changes.
final class DiskControl: Sendable {
    static let name = "freshet.cache"
    /// The tag of <https://bford.info/cachedir/>, by which backup programs recognise directories to skip.
    static let tagName = "CACHEDIR.TAG"
    static let tag = """
        Signature: 8a477f597d28d172789f06886806bc55
        # This directory is a cache of FreshetCache: nothing in it exists nowhere else, and all of it may be deleted.
        # About such files: https://bford.info/cachedir/

        """
    /// The file's first bytes: the name and the version of the format.
    static let magic = Array("freshet cache 1\n".utf8)
    /// The first bytes of any version's file.
    private static let family = Array("freshet cache ".utf8)
    private static let wordOffset = 16
    private static let size = 4_096
    /// `O_NOATIME`, which Glibc defines for GNU programs only. It is the right of the file's owner.
    private static let noAccessTime: Int32 = 0o1_000_000

    private let directory: String
    private let descriptor: Int32
    private let file: PlacedFile
    /// The address of the locked page; valid until deinit, and never accessed.
    private let address: UInt
    /// Whether the word is read without ever waiting for the disk: the kernel may reclaim a page unless it is locked, and a read may have
    /// to store its time.
    let isLockedInMemory: Bool

    /// Opens the directory, and makes it if there is none.
    ///
    /// - Returns: also whether it held a cache of another version, or a damaged one, and was reset.
    static func open(directory: String) throws(CacheError) -> (control: DiskControl, isStale: Bool) {
        do throws(SystemFailure) { try DirectoryTree.create(directory) } catch { throw Self.error(error.code, directory) }
        let path = directory + "/" + name
        let isNew = access(path, F_OK) != 0
        if isNew, !isOurs(directory) { throw .notACacheDirectory(path: directory) }
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw error(errno, directory) }
        do {
            let isStale = try prepare(descriptor, directory)
            return (try DiskControl(directory, descriptor), isStale)
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Whether the directory is a cache's, or empty so that it may become one.
    static func isOurs(_ directory: String) -> Bool {
        guard let names = DiskFolder.names(in: directory) else { return false }
        // Another process may be about to make it one: its control file comes first, and is empty until it is locked. The directory is
        // listed before that file is read, so that every other name in the list came after the file was written.
        //
        // A directory with nothing but databases of a cache is one that has lost the other files: a program that removes old
        // files, as systemd-tmpfiles does, removes those first, since nobody writes them again.
        return names.allSatisfy { $0 == name || DiskGeneration.isGeneration($0, in: directory) } || isCache(directory)
    }

    /// Whether the directory is a cache of ours, of any version.
    static func isCache(_ directory: String) -> Bool {
        DiskFolder.read(directory + "/" + name, limit: family.count) == family
            || DiskFolder.read(directory + "/" + tagName, limit: tag.utf8.count) == Array(tag.utf8)
    }

    private static func prepare(_ descriptor: Int32, _ directory: String) throws(CacheError) -> Bool {
        try lock(descriptor, directory)
        defer { flock(descriptor, LOCK_UN) }
        var head = [UInt8](repeating: 0, count: magic.count)
        let count = pread(descriptor, &head, head.count, 0)
        guard count >= 0 else { throw error(errno, directory) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw error(errno, directory) }
        if head == magic, status.st_size >= size { return false }
        let isNew = count == 0 && !DiskGeneration.isAny(in: directory)
        // A file that is neither empty nor a cache's, beside no tag of ours: someone else's.
        guard count == 0 || head.starts(with: family) || isCache(directory) else { throw .notACacheDirectory(path: directory) }
        try write(page(DiskGeneration.next(after: nil, directory)), at: 0, descriptor, directory)
        try writeTag(directory)
        return !isNew
    }

    /// The whole file. Every byte is written, so that a full disk is reported then.
    private static func page(_ generation: UInt32) -> [UInt8] {
        var page = [UInt8](repeating: 0, count: size)
        page.replaceSubrange(0..<magic.count, with: magic)
        withUnsafeBytes(of: word(generation)) { page.replaceSubrange(wordOffset..<(wordOffset + 8), with: $0) }
        return page
    }

    private static func writeTag(_ directory: String) throws(CacheError) {
        let opened = Glibc.open(directory + "/" + tagName, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard opened >= 0 else { throw error(errno, directory) }
        defer { close(opened) }
        try write(Array(tag.utf8), at: 0, opened, directory)
    }

    private static func write(_ bytes: [UInt8], at offset: Int, _ descriptor: Int32, _ directory: String) throws(CacheError) {
        let count = pwrite(descriptor, bytes, bytes.count, off_t(offset))
        guard count == bytes.count else { throw error(count < 0 ? errno : ENOSPC, directory) }
    }

    private init(_ directory: String, _ descriptor: Int32) throws(CacheError) {
        guard let identity = FileIdentity(descriptor: descriptor) else { throw Self.error(errno, directory) }
        let mapped = mmap(nil, Self.size, PROT_READ, MAP_SHARED, descriptor, 0)
        guard let mapped, mapped != MAP_FAILED else { throw Self.error(errno, directory) }
        self.directory = directory
        self.descriptor = descriptor
        file = PlacedFile(directory + "/" + Self.name, identity)
        address = UInt(bitPattern: mapped)
        isLockedInMemory = mlock(mapped, Self.size) == 0 && fcntl(descriptor, F_SETFL, Self.noAccessTime) == 0
    }

    deinit {
        munmap(UnsafeMutableRawPointer(bitPattern: address), Self.size)
        close(descriptor)
    }

    /// The generation of a directory that is not to be changed; `nil` if it is another version's, or damaged.
    static func generation(of directory: String) -> UInt32? {
        guard let head = DiskFolder.read(directory + "/" + name, limit: wordOffset + 8), head.count == wordOffset + 8,
            head.starts(with: magic)
        else { return nil }
        return generation(head.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: wordOffset, as: UInt64.self) })
    }

    /// The current generation; `nil` if the word is damaged or was never written, or the file was cut.
    var generation: UInt32? {
        var value: UInt64 = 0
        var count = pread(descriptor, &value, 8, off_t(Self.wordOffset))
        while count < 0, errno == EINTR { count = pread(descriptor, &value, 8, off_t(Self.wordOffset)) }
        return count == 8 ? Self.generation(value) : nil
    }

    private static func generation(_ value: UInt64) -> UInt32? {
        let number = UInt32(truncatingIfNeeded: UInt64(littleEndian: value))
        return value != 0 && word(number) == value ? number : nil
    }

    /// The number and its check, as the file has them.
    private static func word(_ number: UInt32) -> UInt64 {
        let check = withUnsafeBytes(of: number.littleEndian) { DiskChecksum.of($0, seed: 4) }
        return (UInt64(number) | check << 32).littleEndian
    }

    /// Makes another generation the current one, also after a loss of power: removed entries must not be readable again. Call
    /// within ``locked(_:)``.
    func setGeneration(_ number: UInt32) throws(CacheError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.error(errno, directory) }
        let page = Self.page(number)
        if status.st_size >= Self.size {
            try Self.write(Array(page[Self.wordOffset..<(Self.wordOffset + 8)]), at: Self.wordOffset, descriptor, directory)
        } else {
            // Another process has cut the file.
            try Self.write(page, at: 0, descriptor, directory)
        }
        guard fdatasync(descriptor) == 0 else { throw Self.error(errno, directory) }
    }

    /// Runs the closure while no other instance, in this process or another, changes generations.
    func locked<Result>(_ body: () throws -> Result) throws -> Result {
        try Self.lock(descriptor, directory)
        defer { flock(descriptor, LOCK_UN) }
        return try body()
    }

    private static func lock(_ descriptor: Int32, _ directory: String) throws(CacheError) {
        // A program's signal handler may interrupt the wait for another process.
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw error(errno, directory) }
        }
    }

    /// Whether the directory still holds this file: someone may have deleted it all.
    var isInPlace: Bool { file.isInPlace }

    /// The cache error for an `errno` of the system.
    static func error(_ code: Int32, _ directory: String) -> CacheError {
        switch code {
        case EACCES, EROFS, EPERM: .readOnly(path: directory)
        case ENOSPC, EDQUOT: .diskFull(path: directory)
        case ENOTDIR: .notACacheDirectory(path: directory)
        default: .storageFailed(path: directory, reason: String(cString: strerror(code)))
        }
    }
}
