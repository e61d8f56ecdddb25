package io.github.pulsarspark.cluster

import java.net.{InetAddress, InetSocketAddress}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.ConcurrentLinkedQueue

import com.sun.net.httpserver.{HttpExchange, HttpServer}

/** An HTTP service on this machine that answers as it is told to, and writes down what it was asked.
  *
  * @param answer
  *   from `METHOD /path body` to a status and a body
  */
final class ScriptedHttp(answer: String => (Int, String)) extends AutoCloseable {
  private val asked  = new ConcurrentLinkedQueue[String]
  private val server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
  server.createContext("/", exchange => respond(exchange))
  server.start()

  def url: String = s"http://127.0.0.1:${server.getAddress.getPort}"

  /** Requests since the last call. */
  def take(): Seq[String] = Iterator.continually(asked.poll()).takeWhile(_ != null).toSeq

  private def respond(exchange: HttpExchange): Unit = try {
    val body           = new String(exchange.getRequestBody.readAllBytes(), UTF_8)
    val request        = s"${exchange.getRequestMethod} ${exchange.getRequestURI} $body".trim
    val (status, json) = answer(request)
    asked.add(request)
    exchange.getResponseHeaders.set("Content-Type", "application/json")
    val bytes = json.getBytes(UTF_8)
    exchange.sendResponseHeaders(status, if (bytes.isEmpty) -1 else bytes.length.toLong)
    if (bytes.nonEmpty) exchange.getResponseBody.write(bytes)
  } finally exchange.close()

  override def close(): Unit = server.stop(0)
}
