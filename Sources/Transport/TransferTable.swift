internal import CFreshetCurl

/// The transfers in progress; accessed only by the curl thread.
final class TransferTable {
    let multi: UnsafeMutableRawPointer
    private let configuration: CurlTransport.Configuration
    /// The TLS sessions of all transfers, so that a further connection to a host resumes one: older versions of libcurl keep
    /// them with the easy handle. `nil` without memory for it. It needs no locks, since only the curl thread uses it.
    private let share: UnsafeMutableRawPointer?
    /// No request has an earlier deadline.
    private(set) var nextDeadline = Int64.max
    /// Holds each transfer for as long as libcurl knows its address.
    private var transfers: [UInt64: Transfer] = [:]

    init(multi: UnsafeMutableRawPointer, configuration: CurlTransport.Configuration) {
        self.multi = multi
        self.configuration = configuration
        share = curl_share_init()
        if let share { _ = freshet_share(share, CURL_LOCK_DATA_SSL_SESSION) }
        // Within the range of a C `int`.
        let connections = min(max(1, configuration.maximumConnections), 1 << 20)
        _ = freshet_multi_setopt_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connections)
        _ = freshet_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, connections * 2)
    }

    deinit { if let share { curl_share_cleanup(share) } }

    /// Adds a request; ``proceed()`` sends it. If it throws, the completion is not called.
    func begin(
        _ id: UInt64, _ request: HTTPRequestDescription, _ completion: @escaping Transfer.Completion
    ) throws(TransportError) {
        guard let easy = EasyHandle() else {
            throw .failed(code: Int(CURLE_OUT_OF_MEMORY.rawValue), "no memory for a request")
        }
        // A millisecond more, since `now` is rounded down.
        let deadline = CurlLoop.now + Int64(max(1, request.timeout.wholeMilliseconds)) + 1
        let transfer = Transfer(id: id, request: request, easy: easy, deadline: deadline, completion: completion)
        try transfer.configure(configuration)
        if let share { try easy.set(CURLOPT_SHARE, pointer: share) }
        transfers[id] = transfer
        let code = curl_multi_add_handle(multi, easy.handle)
        guard code == CURLM_OK else {
            transfers[id] = nil
            throw .failed(code: Int(code.rawValue), String(cString: curl_multi_strerror(code)))
        }
        nextDeadline = min(nextDeadline, deadline)
    }

    func cancel(_ id: UInt64) {
        guard let transfer = transfers[id] else { return }
        finish(transfer, .failure(.aborted))
    }

    func abortAll() {
        for id in transfers.keys.sorted() { cancel(id) }
    }

    /// Lets libcurl read and write as much as it can. No completion is called.
    func proceed() {
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
    }

    /// Completes the transfers that have ended, including those that end during the call.
    func complete() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            // Read before the handle is removed, which frees the message.
            let code = freshet_message_result(message)
            var context: UnsafeMutableRawPointer?
            _ = freshet_getinfo_pointer(easy, CURLINFO_PRIVATE, &context)
            guard let context else { continue }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            finish(transfer, transfer.outcome(code))
        }
    }

    /// Ends the requests whose time is up. libcurl does not end those that wait for a connection to their host.
    func expire() {
        let now = CurlLoop.now
        guard nextDeadline <= now else { return }
        let due = transfers.values.filter { $0.deadline <= now }.sorted { $0.id < $1.id }
        // Before the completions, which may begin other requests.
        nextDeadline = transfers.values.lazy.map(\.deadline).filter { $0 > now }.min() ?? .max
        for transfer in due where transfers[transfer.id] != nil {
            finish(transfer, .failure(.timedOut(proxy: transfer.proxy?.description)))
        }
    }

    private func finish(_ transfer: Transfer, _ outcome: Result<HTTPReply, TransportError>) {
        curl_multi_remove_handle(multi, transfer.easy.handle)
        // libcurl does not use the transfer any more, so it may be released.
        transfers[transfer.id] = nil
        transfer.completion(outcome)
    }
}
