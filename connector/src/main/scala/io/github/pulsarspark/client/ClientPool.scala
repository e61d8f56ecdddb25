package io.github.pulsarspark.client

import org.apache.pulsar.client.impl.{AdminHttp, PulsarClientImpl}

import io.github.pulsarspark.options.ClientOptions

/** A client in use. Closing it twice does no harm. */
private[pulsarspark] final class ClientLease private[client] (shared: SharedLease[ConnectedClient], val options: ClientOptions)
    extends AutoCloseable {

  def client: PulsarClientImpl = shared.value.client

  /** None without `admin.url`. */
  def admin: Option[AdminApi] = shared.value.admin

  /** Fails unless a broker answers and accepts the credentials. Over HTTP there is no connection before there is a topic. */
  def checkConnection(): Unit =
    if (!options.serviceUrl.startsWith("http"))
      new Answers(options, options.serviceUrl).await("Connecting")(client.getConnectionToServiceUrl)

  override def close(): Unit = shared.close()
}

/** A Pulsar client and, made when it is first wanted, its way to the admin service. */
private[client] final class ConnectedClient(options: ClientOptions) {
  val client: PulsarClientImpl = ClientFactory(options)

  private var http: Option[AdminHttp] = None

  def admin: Option[AdminApi] = synchronized {
    if (http.isEmpty) http = options.adminUrl.map(AdminHttp.open(client, _))
    http.zip(options.adminUrl).map { case (http, url) => new AdminApi(http, url) }
  }

  def close(): Unit = synchronized {
    try http.foreach(_.close())
    finally client.shutdown()
  }
}

/** The Pulsar clients of this JVM. */
private[pulsarspark] object ClientPool {
  private val pool = new SharedPool[ClientOptions, ConnectedClient]("Pulsar client", new ConnectedClient(_), _.close())

  def acquire(options: ClientOptions): ClientLease = new ClientLease(pool.acquire(options), options)

  /** Clients that exist now, in use or idle. */
  private[pulsarspark] def size: Int = pool.size
}
