package io.github.pulsarspark.storage.bookkeeper.bookies

import java.io.File
import javax.net.ssl.SSLException

import scala.annotation.unused
import scala.util.control.NonFatal

import io.netty.buffer.ByteBufAllocator
import io.netty.handler.ssl.{SslContext, SslContextBuilder, SslHandler}
import io.netty.util.concurrent.{Future => NettyFuture}
import org.apache.bookkeeper.conf.AbstractConfiguration
import org.apache.bookkeeper.tls.{SecurityException, SecurityHandlerFactory}
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.{BookieTls, NamedFile}
import io.github.pulsarspark.policy.AllowedChecks
import io.github.pulsarspark.pulsar.connection.TlsProblem

/** Encrypts the connections of one BookKeeper client; fails at once when this machine lacks a file. Remembers why the
  * last handshake failed, which the client only logs.
  */
private[bookkeeper] final class BookieConnections(tls: BookieTls) {
  import BookieConnections._

  @volatile private var refused: Option[String] = None

  context()
  if (tls.skipHostnameVerification)
    log.warn("host names of bookies' certificates are not verified (bookie.tls.insecureSkipHostnameVerification)")

  /** Failure of the last handshake; else possible reasons, since a bookie that closes a connection gives none. */
  def problem: String = refused.getOrElse(
    "connections use TLS (bookie.tls.trustCertsFile)" +
      (if (tls.clientFiles.isEmpty) ", with no certificate of the client's own (bookie.tls.certFile)" else "")
  )

  def handler(context: SslContext, allocator: ByteBufAllocator, host: String, port: Int): SslHandler = {
    val handler    = context.newHandler(allocator, host, port)
    val parameters = handler.engine.getSSLParameters
    parameters.setEndpointIdentificationAlgorithm(if (tls.skipHostnameVerification) "" else "HTTPS")
    handler.engine.setSSLParameters(parameters)
    handler.handshakeFuture.addListener { (done: NettyFuture[_]) =>
      refused = Option(done.cause).map {
        case e: SSLException => TlsProblem.refused(s"bookie $host:$port", e)
        case other           => s"no TLS handshake with bookie $host:$port ($other)"
      }
    }
    handler
  }

  /** The files as they are now, since certificates are renewed. */
  def context(): SslContext = BookieConnections.context(tls)
}

private[storage] object BookieConnections {
  private val log = LoggerFactory.getLogger(classOf[BookieConnections])

  /** Fails with the name of the option whose file cannot be read, or is something else. */
  def context(tls: BookieTls): SslContext = {
    val builder = SslContextBuilder.forClient()
    if (tls.skipHostnameVerification) AllowedChecks.checkInsecure("bookie.tls.insecureSkipHostnameVerification")
    use("bookie.tls.trustCertsFile", tls.trustCertsFile)(builder.trustManager(_))
    tls.clientFiles.foreach { case (certFile, keyFile) =>
      use("bookie.tls.certFile", certFile)(
        SslContextBuilder.forClient().trustManager(_)
      ) // else the key's file would get the blame
      use("bookie.tls.keyFile", keyFile)(builder.keyManager(new File(certFile), _))
    }
    builder.build()
  }

  private def use(option: String, file: String)(how: File => Any): Unit = {
    NamedFile.check(option, file)
    try {
      how(new File(file))
      ()
    } catch { case NonFatal(_) => throw Conditions.FileNotPem(option = option, file = file).exception }
  }
}

/** TLS factory in place of BookKeeper's own, which needs Bouncy Castle. BookKeeper creates one for each connection by
  * its class, so it finds its settings in the client's configuration.
  */
private[bookkeeper] final class BookieTlsFactory extends SecurityHandlerFactory {
  import BookieTlsFactory._

  private var connections: BookieConnections = _
  private var context: SslContext            = _
  private var allocator: ByteBufAllocator    = _

  override def getHandlerName: String = "tls"

  override def init(
      @unused node: SecurityHandlerFactory.NodeType,
      conf: AnyConfiguration,
      memory: ByteBufAllocator
  ): Unit =
    conf.getProperty(Property) match {
      case given: BookieConnections =>
        connections = given
        context =
          try given.context()
          catch { case NonFatal(e) => throw new SecurityException(e) } // the one that BookKeeper expects
        allocator = memory
      case _ => throw new IllegalStateException(s"$Property is not set")
    }

  override def newTLSHandler(): SslHandler =
    throw new UnsupportedOperationException("a client knows the host it connects to")
  override def newTLSHandler(host: String, port: Int): SslHandler = connections.handler(context, allocator, host, port)
}

private[bookkeeper] object BookieTlsFactory {
  val Property = "pulsarspark.tls"

  /** BookKeeper's configuration with the type parameter that BookKeeper omits. */
  type AnyConfiguration = AbstractConfiguration[_ <: AbstractConfiguration[_ <: AnyRef]]
}
