/// A part of a cache's entries: the slots, the index of keys, and the lock that readers take.
///
/// The lock lies before the shard in memory, not within it: for the language and the thread sanitizer, changing a part
/// changes the whole. Index and keys change only while both that lock and the cache's write lock are held, so either
/// suffices for reading. The index is open addressing with linear probing: a cell holds half of the key's hash, which
/// is also its home, and the number of the entry's slot.
@usableFromInline
struct CacheShard<Key: Hashable, Value>: ~Copyable {
    @usableFromInline var hits = 0
    @usableFromInline var misses = 0
    /// The upper half holds the tag, the lower the slot's number plus one; zero is an empty cell.
    @usableFromInline var cells: UnsafeMutablePointer<UInt64>
    /// The number of cells, a power of two, minus one.
    @usableFromInline var mask: Int
    @usableFromInline var slots: UnsafeMutablePointer<CacheSlot<Key, Value>>
    @usableFromInline var records: UnsafeMutablePointer<SlotRecord>
    @usableFromInline var count = 0
    /// The number of slots that were ever used. Later slots are in no free list.
    @usableFromInline var usedSlots = 0
    @usableFromInline var capacity = 0
    @usableFromInline var firstFree = UInt32.max

    @inlinable
    init() {
        cells = .allocate(capacity: 8)
        cells.initialize(repeating: 0, count: 8)
        mask = 7
        slots = Self.allocateSlots(0)
        records = .allocate(capacity: 0)
    }

    @inlinable
    deinit {
        for number in 0..<usedSlots where record(number).pointee.queue != .free { slot(number).deinitialize(count: 1) }
        UnsafeMutableRawPointer(slots).deallocate()
        records.deallocate()
        cells.deallocate()
    }

    @inlinable
    func slot(_ number: Int) -> UnsafeMutablePointer<CacheSlot<Key, Value>> { slots + number }

    @inlinable
    func record(_ number: Int) -> UnsafeMutablePointer<SlotRecord> { records + number }

    @inlinable
    static func tag(_ hash: Int) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) }

    /// The number of the key's slot, or a negative number if there is none. O(1).
    @inlinable
    func find(_ key: Key, _ hash: Int) -> Int {
        let tag = Self.tag(hash)
        var position = Int(tag) & mask
        while true {
            let cell = cells[position]
            if cell == 0 { return -1 }
            if UInt32(truncatingIfNeeded: cell >> 32) == tag {
                let number = Int(cell & 0xFFFF_FFFF) - 1
                if slot(number).pointee.key == key { return number }
            }
            position = (position &+ 1) & mask
        }
    }
}

extension CacheShard {
    /// Puts an absent key into a free slot. Requires both locks.
    @inlinable
    mutating func add(_ key: Key, _ value: Value, _ resolved: ResolvedLifetime, _ record: SlotRecord) -> Int {
        let number = takeSlot()
        slot(number).initialize(to: CacheSlot(key: key, value: value, resolved: resolved))
        self.record(number).initialize(to: record)
        if (count + 1) * 16 > (mask + 1) * 13 { growIndex() }
        count += 1
        Self.place(UInt64(Self.tag(record.hash)) << 32 | UInt64(number + 1), in: cells, mask)
        return number
    }

    /// Removes an entry from the index and its slot. Requires both locks. The caller frees the returned objects outside
    /// of them.
    @inlinable
    mutating func take(_ number: Int) -> (key: Key, value: Value) {
        let record = record(number)
        removeCell(number, Self.tag(record.pointee.hash))
        record.pointee.queue = .free
        record.pointee.older = EntryReference(bits: firstFree)
        firstFree = UInt32(number)
        count -= 1
        let slot = slot(number).move()
        return (slot.key, slot.value)
    }

    @inlinable
    mutating func takeSlot() -> Int {
        if firstFree != .max {
            let number = Int(firstFree)
            firstFree = record(number).pointee.older.bits
            return number
        }
        if usedSlots == capacity { addSlots() }
        usedSlots += 1
        return usedSlots - 1
    }

    /// Adds a quarter, since unused slots take memory too. The first slot begins at a cache line.
    @usableFromInline
    mutating func addSlots() {
        let (oldSlots, oldRecords) = (slots, records)
        capacity = max(8, capacity + capacity / 4)
        slots = Self.allocateSlots(capacity)
        slots.moveInitialize(from: oldSlots, count: usedSlots)
        records = .allocate(capacity: capacity)
        records.moveInitialize(from: oldRecords, count: usedSlots)
        UnsafeMutableRawPointer(oldSlots).deallocate()
        oldRecords.deallocate()
    }

    @inlinable
    static func allocateSlots(_ capacity: Int) -> UnsafeMutablePointer<CacheSlot<Key, Value>> {
        let alignment = max(64, MemoryLayout<CacheSlot<Key, Value>>.alignment)
        return UnsafeMutableRawPointer.allocate(byteCount: capacity * MemoryLayout<CacheSlot<Key, Value>>.stride, alignment: alignment)
            .bindMemory(to: CacheSlot<Key, Value>.self, capacity: capacity)
    }

    @usableFromInline
    mutating func growIndex() {
        let (old, oldCount, newMask) = (cells, mask + 1, mask * 2 + 1)
        cells = .allocate(capacity: newMask + 1)
        cells.initialize(repeating: 0, count: newMask + 1)
        mask = newMask
        for position in 0..<oldCount where old[position] != 0 { Self.place(old[position], in: cells, mask) }
        old.deallocate()
    }

    @inlinable
    static func place(_ cell: UInt64, in cells: UnsafeMutablePointer<UInt64>, _ mask: Int) {
        var position = Int(cell >> 32) & mask
        while cells[position] != 0 { position = (position + 1) & mask }
        cells[position] = cell
    }

    /// Closes the gap at once, so that no search passes removed entries (Knuth, volume 3, algorithm 6.4 R).
    @inlinable
    mutating func removeCell(_ number: Int, _ tag: UInt32) {
        let cell = UInt64(tag) << 32 | UInt64(number + 1)
        var gap = Int(tag) & mask
        while cells[gap] != cell { gap = (gap + 1) & mask }
        var next = (gap + 1) & mask
        while cells[next] != 0 {
            let home = Int(cells[next] >> 32) & mask
            if (next &- home) & mask >= (next &- gap) & mask {
                cells[gap] = cells[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        cells[gap] = 0
    }
}
