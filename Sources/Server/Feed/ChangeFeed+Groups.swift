import FreshetWire

extension ChangeFeed {
    /// The group at the head with this subscription, with or without members; `nil` if there is none.
    mutating func present(_ subscription: Subscription) -> Int32? {
        if let latestGroup, latestGroup.subscription == subscription { return latestGroup.group }
        guard let group = groupBySubscription[subscription] else { return nil }
        latestGroup = (subscription, group)
        return group
    }

    /// Returns the group of a subscription, and makes it if there is none. A waiter that awaits a position has a group
    /// to itself.
    ///
    /// - Parameter clearSince: the group wants no change after this revision, up to the head.
    mutating func group(for subscription: Subscription, _ awaited: Cursor?, clearSince: Revision) -> Int32 {
        if awaited == nil, let group = present(subscription) { return group }
        let group = freeGroups.popLast() ?? Int32(groups.count)
        if Int(group) == groups.count { groups.append(nil) }
        groups[Int(group)] = Group(subscription: subscription, awaited: awaited, clearSince: clearSince)
        if awaited == nil {
            groupBySubscription[subscription] = group
            index.insert(group, subscription.filter)
        } else {
            early.append(group)
        }
        return group
    }

    /// Removes one waiter, and its group if no member remains.
    @discardableResult
    mutating func remove(_ slot: Int32, from group: Int32) -> Waiter? {
        guard var present = groups[Int(group)] else { return nil }
        groups[Int(group)] = nil
        let waiter = waiters.remove(slot, members: &present.members)
        groups[Int(group)] = present
        if present.members.isEmpty { drop(group) }
        return waiter
    }

    /// Removes a group and returns its waiters.
    mutating func take(_ group: Int32) -> [Waiter] {
        guard let present = groups[Int(group)] else { return [] }
        let taken = waiters.removeAll(present.members)
        drop(group)
        return taken
    }

    /// Removes and returns the members of a group at the head. The group stays for when they come back.
    mutating func takeMembers(of group: Int32) -> [Waiter] {
        guard var members = groups[Int(group)]?.members else { return [] }
        let taken = waiters.removeAll(members)
        // As many may come back at once; with its capacity kept, the array need not grow again step by step.
        members.removeAll(keepingCapacity: true)
        groups[Int(group)]?.members = members
        groups[Int(group)]?.desertedSince = clock
        return taken
    }

    /// Drops the groups that have had no members for ``ToldPages/lifetime``.
    mutating func dropDeserted(now: Int64) {
        guard now >= nextSweep else { return }
        nextSweep = now + 2_000
        for group in groups.indices {
            if let since = groups[group]?.desertedSince, now - since >= ToldPages.lifetime { drop(Int32(group)) }
        }
    }

    /// Moves the members of a group that awaited a position to the group at the head with the same subscription.
    mutating func join(_ group: Int32) {
        guard let present = groups[Int(group)] else { return }
        let target = self.group(for: present.subscription, nil, clearSince: head.revision)
        groups[Int(target)]?.desertedSince = nil
        for slot in present.members { groups[Int(target)]?.members.append(slot) }
        guard let members = groups[Int(target)]?.members else { return }
        waiters.move(members.suffix(present.members.count), to: target)
        drop(group)
    }

    private mutating func drop(_ group: Int32) {
        guard let gone = groups[Int(group)] else { return }
        if latestGroup?.group == group { latestGroup = nil }
        if gone.awaited == nil {
            groupBySubscription[gone.subscription] = nil
            index.remove(group, gone.subscription.filter)
        } else {
            early.removeAll { $0 == group }
        }
        groups[Int(group)] = nil
        freeGroups.append(group)
    }

    /// The waiters of a group, which stay in it.
    func members(of group: Group) -> [Waiter] { group.members.compactMap { waiters.waiter(at: $0) } }
}
