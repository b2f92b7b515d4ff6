import FreshetSocketHTTP
import FreshetTrust
import FreshetWire
import HTTPTypes

extension RequestContext {
    /// The record of an event that the request has caused.
    ///
    /// - Parameter key: the key that the event is about.
    func event(_ event: AuditEvent, about key: KeyIdentifier? = nil, detail: String? = nil) -> AuditRecord {
        var record = core.audit.event(event, detail: detail)
        record.principal = session?.auditName
        record.key = key?.text
        record.place(endpoint, try? namespace(), request)
        return record
    }

    /// Answers with the result of a change once the audit log has its records, as far as the log is required.
    func respond(_ response: consuming Response, logging records: [AuditRecord], endsSession: Bool = false) {
        // Consumed, since a copy of its fields is an allocation.
        guard let last = records.last else { return respond(consume response, endsSession: endsSession) }
        let response = response
        for record in records.dropLast() { core.audit.record(record) }
        core.audit.record(last) { isWritten in
            if isWritten { respond(response, endsSession: endsSession) } else { fail(AuditLog.unwritten) }
        }
    }
}

extension ServerCore {
    /// Notes an error that refuses a request, if it denies something to somebody.
    ///
    /// - Parameter request: `nil` for a repeated poll.
    func noteDenial(_ error: any Error, to session: AccessSession?, of endpoint: Endpoint, in namespace: Namespace?, _ request: Request?) {
        guard let denial = Denial(error) else { return }
        let principal = session == nil ? access?.refusedCertificate(of: request)?.text : session?.auditName
        let client = principal ?? request?.subscriberAddress ?? ""
        audit.noteDenial(DenialLog.Group(denial.event, of: client, reason: denial.reason)) {
            var record = audit.event(denial.event, detail: denial.detail)
            record.principal = principal
            if denial.event == .tokenRefused { record.key = request?.refusedKey?.text }
            record.place(endpoint, namespace, request)
            return record
        }
    }
}

/// Why a request is refused, as the audit log shows it.
private struct Denial {
    let event: AuditEvent
    /// What the refusals of one group have in common: nothing that the client chooses, which could begin any number of groups.
    let reason: String
    let detail: String

    /// `nil` for an error that denies nothing, and for a request without a credential, as monitors and scanners send them.
    init?(_ error: any Error) {
        if let refusal = error as? RateRefusal {
            (event, reason, detail) = (.quotaReached, refusal.excess.name, refusal.problem.detail)
            return
        }
        guard let problem = error as? Problem, problem != AccessProblem.missing else { return nil }
        switch (problem.status, problem.needs) {
        case (401, _): event = .tokenRefused
        case (403, let needs?):
            (event, reason, detail) = (.rightDenied, "\(needs.may)", "needs \(needs.may) of \(needs.of.shortened)")
            return
        case (403, nil): event = .rightDenied
        case (429, _): event = .quotaReached
        default:
            guard problem.code.text == "quota-exceeded" else { return nil }
            event = .quotaReached
        }
        (reason, detail) = (problem.code.text, problem.detail)
    }
}

extension AccessSession {
    /// The principal; `nil` for a request without a credential that is not an operator's.
    fileprivate var auditName: String? { isAnonymous ? nil : value.principal.text }
}

extension AuditRecord {
    fileprivate mutating func place(_ endpoint: Endpoint, _ namespace: Namespace?, _ request: Request?) {
        self.namespace = namespace?.name
        self.request = "\(endpoint.method.rawValue) \(endpoint.pattern)"
        if let address = request?.remoteAddress, !address.isEmpty { self.address = address }
    }
}

extension Request {
    /// The id of a whole key whose secret is wrong, or that is not valid; `nil` for any other credential.
    fileprivate var refusedKey: KeyIdentifier? {
        let credential = self[.authorization].flatMap { BearerCredential.read(Array($0.utf8)) }
        return credential.flatMap { try? AccessKey($0) }?.id
    }
}
