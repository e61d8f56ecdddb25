package io.github.pulsarspark.pulsar.connection

import java.io.IOException
import java.net.{Socket, SocketTimeoutException}
import java.nio.charset.StandardCharsets.US_ASCII
import javax.net.ssl.SSLSocket

import scala.concurrent.duration._
import scala.util.Using

import io.github.pulsarspark.errors.FirstLine

/** Protocol of a port, as far as it answers to two short conversations. */
private[pulsarspark] sealed trait PortProtocol

private[pulsarspark] object PortProtocol {
  case object Tls  extends PortProtocol
  case object Http extends PortProtocol

  /** Protocol of a port that answers neither, as the binary port of a broker. */
  case object Other extends PortProtocol

  private val Patience = 2.seconds
  private val Request  = "GET / HTTP/1.0\r\n\r\n".getBytes(US_ASCII)
  private val Answer   = "HTTP/".getBytes(US_ASCII)

  /** Connects twice. None where nothing listens, or does not respond in time. */
  def of(host: ServiceHost): Option[PortProtocol] =
    try Some(if (speaks(host)(answersHttp)) Http else if (speaks(host)(handshakes(host))) Tls else Other)
    catch { case _: IOException => None }

  /** A server that ends the connection does not speak the protocol; one that refuses this client by an alert speaks
    * TLS.
    */
  private def speaks(host: ServiceHost)(talk: Socket => Boolean): Boolean = Using.resource(new Socket) { socket =>
    socket.setSoTimeout(Patience.toMillis.toInt)
    socket.connect(host.resolved, Patience.toMillis.toInt)
    try talk(socket)
    catch { case e: IOException if !e.isInstanceOf[SocketTimeoutException] => FirstLine(e).contains("fatal alert") }
  }

  private def answersHttp(socket: Socket): Boolean = {
    socket.getOutputStream.write(Request)
    socket.getInputStream.readNBytes(Answer.length).sameElements(Answer)
  }

  /** Trusts any certificate: nothing is sent but the handshake. */
  private def handshakes(host: ServiceHost)(plain: Socket): Boolean =
    TlsContexts.trustingAny.getSocketFactory.createSocket(plain, host.name, host.port, true) match {
      case socket: SSLSocket =>
        socket.startHandshake()
        true
      case _ => false
    }
}
