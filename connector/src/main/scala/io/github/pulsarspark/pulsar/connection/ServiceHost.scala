package io.github.pulsarspark.pulsar.connection

import java.net.InetSocketAddress

import org.apache.pulsar.common.net.ServiceURI

/** A host of a service's address, with the port of its scheme where the address names none.
  *
  * @param name
  *   a name or an address, an IPv6 address without its brackets
  */
private[pulsarspark] final case class ServiceHost(name: String, port: Int) {

  /** Looks the name up; may block. */
  def resolved: InetSocketAddress = new InetSocketAddress(name, port)

  override def toString: String = if (name.contains(':')) s"[$name]:$port" else s"$name:$port"
}

private[pulsarspark] object ServiceHost {

  /** The hosts of `pulsar://host:port,host:port`, or of any other scheme. */
  def of(url: String): Seq[ServiceHost] = ServiceURI.create(url).getServiceHosts.toSeq.map { host =>
    val colon = host.lastIndexOf(':')
    ServiceHost(host.take(colon).stripPrefix("[").stripSuffix("]"), host.drop(colon + 1).toInt)
  }
}
