internal import FreshetSQLite
public import Logging

extension DiskCache {
    /// The settings of a ``DiskCache``.
    public struct Configuration: Sendable {
        /// The most bytes of all entries together; the least recently used are evicted first. Each counts its value, three
        /// times its key and its tags, which are in indexes too, and 128 bytes. The files may be up to twice as large, as
        /// with values that fill little more than half a page of 4 KiB, and SQLite's log has up to 16 MiB. The default is
        /// 256 MiB; less than zero is zero.
        public var byteLimit = 256 << 20
        /// The largest value, in bytes, that is kept within the database; a larger one gets a separate file. The default is 16 KiB.
        public var inlineLimit = 16 << 10
        /// The most bytes of staged values that may wait to be written; a value that exceeds it is dropped. The default is 32 MiB.
        public var stagedByteLimit = 32 << 20
        /// The lifetime of an entry that is stored without one.
        public var lifetime = Lifetime.standard
        /// The values' kind, encoding and account, such as `3/user-42`. Opening a directory of another schema empties it, so a new version,
        /// or another account, never reads the earlier entries.
        public var schema = ""
        /// Encrypts and decrypts the values that are stored ``DiskProtection/encrypted``, such as `AESGCMCipher` of
        /// FreshetCacheEncryption. Without it, such values cannot be stored, and stored ones miss.
        public var cipher: (any DiskCipher)?
        /// The source of time; lifetimes on disk are measured by its wall clock.
        public var clock = CacheClock.system
        /// The logger of failures and resets.
        public var logger = Logger(label: "freshet.cache.disk")
        /// How many keys may miss since their writes failed. Beyond that the cache is emptied.
        var mostFailedWrites = 65_536
        /// The source of pages for reads that must not wait.
        var pages = ResidentPages.pageCache

        /// Makes a configuration with the defaults.
        public init() {}
    }
}
