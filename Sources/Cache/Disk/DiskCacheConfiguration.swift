public import Logging

extension DiskCache {
    /// How a ``DiskCache`` works.
    public struct Configuration: Sendable {
        /// The most bytes of all entries together; the least recently used leave first. Each counts its value, its key and 128 bytes.
        /// The files may be up to half as large again. 256 MiB unless told otherwise; less than zero is zero.
        public var byteLimit = 256 << 20
        /// The largest value, in bytes, that is kept within the database; a larger one gets a file of its own. 16 KiB unless told otherwise.
        public var inlineLimit = 16 << 10
        /// The most bytes of staged values that may wait to be written; one that finds no room is dropped. 32 MiB unless told otherwise.
        public var stagedByteLimit = 32 << 20
        /// How long an entry lives if its caller does not say.
        public var lifetime = Lifetime.standard
        /// What the values are, for whom, and in which encoding, such as `3/user-42`. A directory with another one is emptied when
        /// it is opened: so a new schema, or another account, never reads what was there before.
        public var schema = ""
        /// Encrypts and decrypts the values that are stored ``DiskProtection/encrypted``, such as `AESGCMSealing` of FreshetCacheEncryption.
        /// Without one they cannot be stored, and those that are there miss.
        public var sealing: (any DiskSealing)?
        /// Where time comes from; the wall clock is what counts on disk.
        public var clock = CacheClock.system
        /// Where it says what is wrong.
        public var logger = Logger(label: "freshet.cache.disk")

        /// What has the values given above.
        public init() {}
    }
}
