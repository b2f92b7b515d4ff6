internal import FreshetPlatform
internal import Glibc

/// The files beside the database that hold the large values of one generation.
///
/// A file is written once, completely, under a unique name. Only then is a row written that refers to the file, so no reader meets half a
/// file; and an overwritten value's file is deleted only after no row refers to it. A process that dies in between leaves a file without
/// a row, which ``settled(in:)`` lists. Writes do not sync to the disk: the checksum detects a file that a loss of power has cut.
struct DiskFiles: Sendable {
    /// The generation's folder.
    let root: String
    /// The most bytes of a value. No memory is allocated for a row that states more, which was not written within the limit.
    var largestValue = Int.max
    static let folders = 256
    /// The age in seconds below which a file's row may not be written yet.
    private static let tender: Int = 600

    private func folder(_ number: KeyHash) -> String { root + "/" + number.digits.prefix(2) }

    func path(_ number: KeyHash, _ unique: UInt64) -> String {
        "\(folder(number))/\(number.digits)-\(KeyHash.digits(unique))"
    }

    /// Writes a value into a new file.
    func write(_ bytes: [UInt8], _ number: KeyHash, _ unique: UInt64) throws(CacheError) {
        let path = path(number, unique)
        var opened = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if opened < 0, errno == ENOENT {
            guard mkdir(folder(number), 0o700) == 0 || errno == EEXIST else { throw DiskControl.error(errno, root) }
            opened = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        }
        guard opened >= 0 else { throw DiskControl.error(errno, root) }
        defer { close(opened) }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(opened, $0.baseAddress.map { $0 + written }, bytes.count - written) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let failure = count == 0 ? ENOSPC : errno
                unlink(path)
                throw DiskControl.error(failure, root)
            }
            written += count
        }
    }

    /// The file's bytes, if it has as many as it should, and no more than ``largestValue``.
    func read(_ number: KeyHash, _ unique: UInt64, count: Int) -> [UInt8]? {
        guard count <= largestValue else { return nil }
        var status = stat()
        let path = path(number, unique)
        // Checked before memory is allocated: a damaged row never gets here, but the file may have been cut.
        guard stat(path, &status) == 0, Int(status.st_size) == count else { return nil }
        guard let bytes = DiskFolder.read(path, limit: count), bytes.count == count else { return nil }
        return bytes
    }

    func remove(_ number: KeyHash, _ unique: UInt64) { unlink(path(number, unique)) }

    /// The files of one folder that are old enough to have a row: whose rows they should be, and their unique numbers.
    func settled(in index: Int) -> [(number: KeyHash, unique: UInt64)] {
        let digits = String(index % Self.folders, radix: 16)
        let folder = root + "/" + (digits.utf8.count == 1 ? "0" : "") + digits
        let now = SystemClock.wallNanoseconds / 1_000_000_000
        var found: [(KeyHash, UInt64)] = []
        for name in DiskFolder.names(in: folder) ?? [] {
            let parts = name.split(separator: "-")
            guard parts.count == 2, let number = UInt64(parts[0], radix: 16), let unique = UInt64(parts[1], radix: 16) else { continue }
            var status = stat()
            guard stat(folder + "/" + name, &status) == 0, Int64(status.st_mtim.tv_sec + Self.tender) < now else { continue }
            found.append((KeyHash(row: Int64(bitPattern: number)), unique))
        }
        return found
    }
}
