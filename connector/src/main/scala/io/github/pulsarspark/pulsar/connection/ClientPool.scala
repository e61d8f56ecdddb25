package io.github.pulsarspark.pulsar.connection

import scala.concurrent.duration._
import scala.jdk.OptionConverters._
import scala.util.control.NonFatal

import org.apache.pulsar.client.impl.{AdminHttp, PulsarClientImpl}

import io.github.pulsarspark.common.{SharedLease, SharedPool}
import io.github.pulsarspark.errors.{Conditions, PulsarError}
import io.github.pulsarspark.options.{Authentication, ClientOptions}
import io.github.pulsarspark.pulsar.admin.AdminApi

/** A client in use. Closing it twice does no harm. */
private[pulsar] final class ClientLease private[connection] (
    shared: SharedLease[ConnectedClient],
    val options: ClientOptions
) extends AutoCloseable {

  def client: PulsarClientImpl = shared.value.client

  /** Another lease of the same client, for a user that may need it longer. */
  def another(): ClientLease = ClientPool.acquire(options)

  /** Client of the admin service; None without `admin.url`. */
  def admin: Option[AdminApi] = shared.value.admin

  /** Fails unless a broker responds and accepts the credentials. Over HTTP there is no connection without a topic. */
  def checkConnection(): Unit =
    if (!options.serviceUrl.startsWith("http"))
      new ClusterCalls(options, options.serviceUrl).ask("Connecting")(() => client.getConnectionToServiceUrl)

  override def close(): Unit = shared.close()
}

/** A Pulsar client and its way to the admin service. */
private final class ConnectedClient(val client: PulsarClientImpl, http: Option[(AdminHttp, String)]) {
  val admin: Option[AdminApi] = http.map { case (http, url) => new AdminApi(http, url) }

  def close(): Unit =
    try http.foreach(_._1.close())
    finally client.shutdown()
}

private object ConnectedClient {

  /** Creates a client. It connects to nothing but an issuer of tokens. */
  def apply(options: ClientOptions): ConnectedClient = {
    val client = ClientFactory(options)
    try new ConnectedClient(client,
        options.adminUrl.map(url =>
          AdminHttp.open(client, url, ClientFactory.adminAuthentication(options).toJava) -> url
        ))
    catch {
      case e: PulsarError =>
        client.shutdown()
        throw e
      case NonFatal(e) =>
        client.shutdown()
        throw Conditions.ClientFailed(url = options.adminUrl.get, cause = e.getClass.getSimpleName).exception
    }
  }
}

/** The Pulsar clients of this JVM. */
private[pulsar] object ClientPool {

  /** Grace period: the client's own time-outs end at the operation timeout with better messages. If they do not, the
    * wait ends this much later.
    */
  private val Grace = 5.seconds

  private val pool =
    new SharedPool[ClientOptions, ConnectedClient]("Pulsar client", ConnectedClient(_), _.close(), patience, late)

  def acquire(options: ClientOptions): ClientLease = new ClientLease(pool.acquire(options), options)

  /** Clients that exist now, in use or idle. */
  def size: Int = pool.size

  private def patience(options: ClientOptions): FiniteDuration = options.operationTimeout + Grace

  private def late(options: ClientOptions): Throwable = Conditions.Unreachable(
    what = "Making a Pulsar client",
    url = options.authentication match {
      case o: Authentication.OAuth2 => o.issuerUrl
      case _                        => options.serviceUrl
    },
    waited = patience(options).toMillis.toString,
    cause = ""
  ).exception
}
