#if PostgreSQL
/// What a store does once another server of its PostgreSQL cluster has taken over. All Freshet servers of a store need the same one.
public enum FailoverPolicy: String, Sendable, CaseIterable {
    /// Gives every namespace a new epoch, since acknowledged writes may be missing. Always right.
    case renew
    /// Keeps the epochs, so that no device notices. Right only if no standby is promoted that lacks a write which anyone has seen:
    /// `synchronous_standby_names` is set, and the manager promotes a synchronous standby or none. PostgreSQL cannot show this to
    /// Freshet. A restore from an archive looks the same, and needs `--restored`. Another cluster, or an
    /// earlier timeline, begins new epochs all the same.
    case keep
}
#endif
