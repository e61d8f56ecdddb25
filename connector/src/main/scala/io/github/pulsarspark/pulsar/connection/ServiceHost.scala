package io.github.pulsarspark.pulsar.connection

import java.net.{InetAddress, InetSocketAddress}

import org.apache.pulsar.common.net.ServiceURI

import io.github.pulsarspark.policy.AllowedHosts

/** A host of a service's address, with the port of its scheme where the address names none.
  *
  * @param name
  *   a name or an address, an IPv6 address without its brackets
  */
private[pulsarspark] final case class ServiceHost(name: String, port: Int) {

  /** Looks the name up; may block. Fails where the policy of a server does not list it. */
  def resolved: InetSocketAddress = AllowedHosts.resolved(ServiceHost.OptionKey, name, port)

  /** All its addresses; may block. Fails as `resolved` does. */
  def addresses: Seq[InetAddress] = AllowedHosts.addresses(ServiceHost.OptionKey, name, port)

  override def toString: String = if (name.contains(':')) s"[$name]:$port" else s"$name:$port"
}

private[pulsarspark] object ServiceHost {

  /** The option that leads to a host, for errors: brokers name others. */
  private[connection] val OptionKey = "service.url"

  /** True if a client of the address looks topics up by HTTP requests, whose redirects it follows to any port. */
  def isOverHttp(url: String): Boolean = url.startsWith("http")

  /** The hosts of `pulsar://host:port,host:port`, or of any other scheme. */
  def of(url: String): Seq[ServiceHost] = ServiceURI.create(url).getServiceHosts.toSeq.map { host =>
    val colon = host.lastIndexOf(':')
    ServiceHost(host.take(colon).stripPrefix("[").stripSuffix("]"), host.drop(colon + 1).toInt)
  }
}
