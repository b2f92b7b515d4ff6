import FreshetWire

extension ChangeFeed {
    /// Removes one waiter, and its group if no member remains.
    @discardableResult
    mutating func remove(_ slot: Int32, from group: Int32) -> Waiter? {
        guard var present = groups[group] else { return nil }
        groups[group] = nil
        let waiter = waiters.remove(slot, members: &present.members)
        groups[group] = present
        if present.members.isEmpty { groups.drop(group) }
        return waiter
    }

    /// Removes a group and returns its waiters.
    mutating func take(_ group: Int32) -> [Waiter] {
        guard let present = groups[group] else { return [] }
        let taken = waiters.removeAll(present.members)
        groups.drop(group)
        return taken
    }

    /// Removes and returns the members of a group at the head. The group stays for when they come back, if it is small.
    mutating func takeMembers(of group: Int32) -> [Waiter] {
        guard var members = groups[group]?.members else { return [] }
        let taken = waiters.removeAll(members)
        // As many may come back at once; with its capacity kept, the array need not grow again step by step.
        members.removeAll(keepingCapacity: true)
        groups[group]?.members = members
        groups.keepEmpty(group, since: clock)
        return taken
    }

    /// Moves the members of a group with a target to the group at the head with the same subscription.
    mutating func join(_ group: Int32) {
        guard let present = groups[group] else { return }
        let target = groups.group(for: present.subscription, target: nil, noMatchAfter: head.revision)
        groups.use(target)
        for slot in present.members { groups[target]?.members.append(slot) }
        guard let members = groups[target]?.members else { return }
        waiters.move(members.suffix(present.members.count), to: target)
        groups.drop(group)
    }

    /// The waiters of a group, which stay in it.
    func members(of group: GroupTable.Group) -> [Waiter] { group.members.compactMap { waiters.waiter(at: $0) } }
}
