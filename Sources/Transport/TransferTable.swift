internal import CFreshetCurl

/// The transfers in progress; accessed only by the curl thread.
final class TransferTable {
    let multi: UnsafeMutableRawPointer
    private let configuration: CurlTransport.Configuration
    /// Holds each transfer for as long as libcurl knows its address.
    private var transfers: [UInt64: Transfer] = [:]

    init(multi: UnsafeMutableRawPointer, configuration: CurlTransport.Configuration) {
        self.multi = multi
        self.configuration = configuration
        _ = freshet_multi_setopt_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.maximumConnections)
        _ = freshet_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, configuration.maximumConnections * 2)
    }

    /// Adds a request; ``proceed()`` sends it. If it throws, the completion is not called.
    func begin(
        _ id: UInt64, _ request: HTTPRequestDescription, _ completion: @escaping Transfer.Completion
    ) throws(TransportError) {
        guard let easy = EasyHandle() else {
            throw .failed(code: Int(CURLE_OUT_OF_MEMORY.rawValue), "no memory for a request")
        }
        let transfer = Transfer(id: id, request: request, easy: easy, completion: completion)
        try transfer.configure(configuration)
        transfers[id] = transfer
        let code = curl_multi_add_handle(multi, easy.handle)
        guard code == CURLM_OK else {
            transfers[id] = nil
            throw .failed(code: Int(code.rawValue), String(cString: curl_multi_strerror(code)))
        }
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

    private func finish(_ transfer: Transfer, _ outcome: Result<HTTPReply, TransportError>) {
        curl_multi_remove_handle(multi, transfer.easy.handle)
        // libcurl does not use the transfer any more, so it may be released.
        transfers[transfer.id] = nil
        transfer.completion(outcome)
    }
}
