package io.github.pulsarspark.progress

import java.net.InetSocketAddress
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID
import java.util.concurrent.{ConcurrentHashMap, Executors}

import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.duration.Duration
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.sun.net.httpserver.{HttpExchange, HttpServer}
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.Conditions

/** Answers requests for the newest progress of all queries of a JVM, at one address of this machine, until the JVM
  * ends. It has no access control.
  */
private[progress] final class MetricsEndpoint private (server: HttpServer) {
  private val reports = new ConcurrentHashMap[UUID, QueryReport]

  def port: Int = server.getAddress.getPort

  def put(runId: UUID, report: QueryReport): Unit = reports.put(runId, report)

  def remove(runId: UUID): Unit = reports.remove(runId)

  private def answer(exchange: HttpExchange): Unit =
    try
      // The server hands over longer paths as well.
      if (exchange.getRequestURI.getPath != MetricsEndpoint.Path) exchange.sendResponseHeaders(404, -1)
      else if (exchange.getRequestMethod != "GET") exchange.sendResponseHeaders(405, -1)
      else {
        val body = PrometheusText.of(reports.values.asScala).getBytes(UTF_8)
        exchange.getResponseHeaders.set("Content-Type", PrometheusText.ContentType)
        // 0 would be a body of unknown length.
        exchange.sendResponseHeaders(200, if (body.isEmpty) -1 else body.length.toLong)
        exchange.getResponseBody.write(body)
      }
    finally exchange.close()
}

private[progress] object MetricsEndpoint {
  private val Path    = "/metrics"
  private val Threads = 2

  private val log  = LoggerFactory.getLogger(classOf[MetricsEndpoint])
  private val open = new ConcurrentHashMap[(String, Int), MetricsEndpoint]

  /** Returns the endpoint of an address, which all sessions of the JVM share.
    *
    * @param port
    *   0 for any free one
    */
  def shared(host: String, port: Int): MetricsEndpoint =
    open.computeIfAbsent((host, port), _ => opened(host, port))

  private def opened(host: String, port: Int): MetricsEndpoint =
    try {
      val server   = HttpServer.create(new InetSocketAddress(host, port), 0)
      val endpoint = new MetricsEndpoint(server)
      val threads  = Executors.newFixedThreadPool(Threads, daemon(_))
      server.setExecutor(threads)
      server.createContext(Path, endpoint.answer(_))
      // The thread of the server is a daemon only if a daemon starts it.
      Await.result(Future(server.start())(ExecutionContext.fromExecutor(threads)), Duration.Inf)
      log.info(s"The progress of streaming queries is at http://$host:${endpoint.port}$Path")
      endpoint
    } catch {
      case NonFatal(e) => throw Conditions.MetricsAddress(address = s"$host:$port", cause = e.getMessage).exception
    }

  private def daemon(task: Runnable): Thread = {
    val thread = new Thread(task, "pulsar-spark-metrics")
    thread.setDaemon(true)
    thread
  }
}
