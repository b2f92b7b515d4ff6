internal import CFreshetCurl
internal import FreshetPlatform
internal import HTTPTypes

extension Transfer {
    /// Sets libcurl's options for the request. Their meaning: <https://curl.se/libcurl/c/curl_easy_setopt.html>.
    func configure(_ configuration: CurlTransport.Configuration) throws(TransportError) {
        try protectCredentials(configuration)
        // The rule has decided, so libcurl must not read the environment.
        proxy = configuration.unixSocket == nil ? configuration.proxies.proxy(for: request.url) : nil
        try easy.set(CURLOPT_PROXY, proxy?.url ?? "")
        if let user = proxy?.user { try easy.set(CURLOPT_PROXYUSERPWD, user) }
        try easy.set(CURLOPT_NOPROXY, "")
        if let path = configuration.unixSocket { try easy.set(CURLOPT_UNIX_SOCKET_PATH, path.text) }
        // Otherwise the end of a request whose name is being resolved blocks this thread, and thereby all requests, until
        // the resolver has given up.
        try easy.set(CURLOPT_QUICK_EXIT, 1)
        // No signals: they would hit other threads of the program. DNS time-outs still work with a threaded resolver.
        try easy.set(CURLOPT_NOSIGNAL, 1)
        try easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        try easy.set(CURLOPT_URL, request.url)
        // An id may be "..": the path is sent in the caller's spelling.
        try easy.set(CURLOPT_PATH_AS_IS, 1)
        try easy.set(CURLOPT_HTTP_VERSION, configuration.allowsHTTP2 ? Int(CURL_HTTP_VERSION_2TLS) : Int(CURL_HTTP_VERSION_1_1))
        // A redirect is a response: the code that follows redirects decides which fields the next host gets.
        try easy.set(CURLOPT_FOLLOWLOCATION, 0)
        // The header callback gets the origin's header alone, and not the proxy's answer to CONNECT.
        try easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try setTimes(configuration)
        try setTrust(configuration.tls)
        try setContent()
        try setFields(configuration)
        let context = Unmanaged.passUnretained(self).toOpaque()
        try easy.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            Transfer.deliver(bytes, size * count, context) { $0.receive(body: $1) }
        }
        try easy.set(CURLOPT_WRITEDATA, pointer: context)
        try easy.set(CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            Transfer.deliver(bytes, size * count, context) { $0.receive(header: $1) }
        }
        try easy.set(CURLOPT_HEADERDATA, pointer: context)
        try easy.set(CURLOPT_PRIVATE, pointer: context)
    }

    /// Refuses to send credentials that others could read on the network.
    private func protectCredentials(_ configuration: CurlTransport.Configuration) throws(TransportError) {
        let hasField = request.fields[.authorization] != nil
        // Most requests need no parsing of their URL.
        guard !configuration.allowsInsecureCredentials, hasField || request.url.utf8.contains(UInt8(ascii: "@")) else { return }
        guard let target = RequestTarget(request.url) else { throw .invalidRequest("libcurl cannot read its URL") }
        guard hasField || target.hasUser else { return }
        guard target.isProtected else {
            throw .invalidRequest("its credentials would go unencrypted to \(target.host): use https, or set allowsInsecureCredentials")
        }
    }

    private func setTimes(_ configuration: CurlTransport.Configuration) throws(TransportError) {
        // libcurl takes 0 for "no limit", so the minimum is one millisecond.
        try easy.set(CURLOPT_TIMEOUT_MS, max(1, request.timeout.wholeMilliseconds))
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, max(1, min(configuration.connectTimeout, request.timeout).wholeMilliseconds))
        try easy.set(CURLOPT_TCP_KEEPALIVE, 1)
        try easy.set(CURLOPT_TCP_KEEPIDLE, 15)
        try easy.set(CURLOPT_TCP_KEEPINTVL, 5)
        try easy.set(CURLOPT_TCP_NODELAY, 1)
    }

    /// Certificates are always verified: libcurl's defaults for `CURLOPT_SSL_VERIFYPEER` and `CURLOPT_SSL_VERIFYHOST`.
    private func setTrust(_ trust: TLSTrust) throws(TransportError) {
        try easy.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let authority = trust.authority {
            try easy.set(CURLOPT_CAINFO, authority.text)
            // Otherwise the system's folder of certificates would be trusted too.
            try easy.set(CURLOPT_CAPATH, pointer: nil)
        }
        if let identity = trust.identity {
            try easy.set(CURLOPT_SSLCERT, identity.certificate.text)
            try easy.set(CURLOPT_SSLKEY, identity.key.text)
        }
        if !trust.pinnedKeys.isEmpty { try easy.set(CURLOPT_PINNEDPUBLICKEY, trust.pinnedKeys.joined(separator: ";")) }
    }

    private func setContent() throws(TransportError) {
        if request.method == .head {
            // libcurl would send a POST.
            guard request.body?.isEmpty ?? true else { throw .invalidRequest("a HEAD request has no content") }
            try easy.set(CURLOPT_NOBODY, 1)
        } else if let body = request.body {
            try easy.set(CURLOPT_POST, 1)
            // The size comes first: without it libcurl would search for a zero byte.
            try easy.set(CURLOPT_POSTFIELDSIZE_LARGE, offset: body.count)
            let code = body.withUnsafeBytes { bytes in
                bytes.baseAddress.map { freshet_setopt_pointer(easy.handle, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0)) }
                    ?? freshet_setopt_text(easy.handle, CURLOPT_COPYPOSTFIELDS, "")
            }
            try easy.check(code)
        } else {
            try easy.set(CURLOPT_HTTPGET, 1)
        }
        if request.method != (request.body == nil ? .get : .post), request.method != .head {
            try easy.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        }
    }

    private func setFields(_ configuration: CurlTransport.Configuration) throws(TransportError) {
        // Without this libcurl would hold back a long body for a second, waiting for 100 Continue, and would send a
        // form's media type.
        var own = ["Expect:"]
        if request.body != nil, request.fields[.contentType] == nil { own.append("Content-Type:") }
        if request.fields[.userAgent] == nil { own.append("User-Agent: \(configuration.userAgent)") }
        // "Name;" is libcurl's spelling of an empty field.
        var lines = own.map { Array($0.utf8) }
        for field in request.fields {
            // The bytes of the value, which need not be UTF-8.
            lines.append(
                Array("\(field.name)".utf8) + field.withUnsafeBytesOfValue { $0.isEmpty ? [UInt8(ascii: ";")] : Array(": ".utf8) + $0 })
        }
        for line in lines {
            let longer = (line + [0]).withUnsafeBytes { curl_slist_append(fieldList, $0.baseAddress?.assumingMemoryBound(to: CChar.self)) }
            guard let longer else { throw .failed(code: Int(CURLE_OUT_OF_MEMORY.rawValue), "no memory") }
            fieldList = longer
        }
        try easy.set(CURLOPT_HTTPHEADER, pointer: fieldList)
    }

    /// - Returns: the number of bytes given, which means success to libcurl. Any other number ends the transfer.
    private static func deliver(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
        to receive: (Transfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let context else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        return receive(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
    }
}

extension Duration {
    /// Rounded up, so that a short wait never becomes 0; clamped to the range of a C `int`, as libcurl does.
    package var wholeMilliseconds: Int {
        guard self < .seconds(Int64(Int32.max) / 1_000) else { return Int(Int32.max) }
        guard self > .seconds(-1_000_000) else { return -1_000_000_000 }
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
