package io.github.pulsarspark.pulsar.connection

import java.net.InetSocketAddress
import java.util.{Collections, List => JList}

import scala.jdk.CollectionConverters._
import scala.util.Try

import io.netty.channel.EventLoopGroup
import io.netty.resolver.{AbstractAddressResolver, AddressResolver}
import io.netty.util.concurrent.{EventExecutor, Future, Promise}
import org.apache.pulsar.client.impl.DnsResolverGroupImpl
import org.apache.pulsar.client.impl.conf.ClientConfigurationData

import io.github.pulsarspark.policy.{AllowedHosts, CalledPort}

/** Looks hosts up for a Pulsar client as the client does itself, but only those that the policy of a server lists. The
  * client looks up every host that it connects to: those of options, those that brokers name, and those that they
  * redirect to.
  */
private[connection] final class GuardedNames(conf: ClientConfigurationData) extends DnsResolverGroupImpl(conf) {

  /** The client's HTTP requests look names up without a port. Where it sends none itself, they are those of
    * `AdminHttp`, which checks host and port before; its own requests follow redirects to any port.
    */
  private val unnamedPort =
    if (ServiceHost.isOverHttp(conf.getServiceUrl)) CalledPort.Unknown else CalledPort.Checked

  /** The resolver ends with the client's threads. */
  override def createAddressResolver(threads: EventLoopGroup): AddressResolver[InetSocketAddress] =
    new GuardedNames.Resolver(super.createAddressResolver(threads), threads.next(), unnamedPort)
}

private object GuardedNames {

  /** The port of a look-up without one. */
  private val NoPort = 1

  private final class Resolver(
      names: AddressResolver[InetSocketAddress],
      thread: EventExecutor,
      unnamedPort: CalledPort
  ) extends AbstractAddressResolver[InetSocketAddress](thread, classOf[InetSocketAddress]) {

    /** An address needs no look-up, but a check. */
    override def doIsResolved(address: InetSocketAddress): Boolean = false

    override def doResolve(to: InetSocketAddress, found: Promise[InetSocketAddress]): Unit = {
      check(to)
      names.resolve(to).addListener((done: Future[InetSocketAddress]) =>
        pass(to, done, found)(address => Collections.singletonList(address))
      )
      ()
    }

    override def doResolveAll(to: InetSocketAddress, found: Promise[JList[InetSocketAddress]]): Unit = {
      check(to)
      names.resolveAll(to).addListener((done: Future[JList[InetSocketAddress]]) => pass(to, done, found)(identity))
      ()
    }

    private def portOf(to: InetSocketAddress) =
      if (to.getPort == NoPort) unnamedPort else CalledPort.At(to.getPort)

    private def check(to: InetSocketAddress): Unit =
      AllowedHosts.check(ServiceHost.OptionKey, to.getHostString, portOf(to))

    private def checkAddress(to: InetSocketAddress)(found: InetSocketAddress): Unit =
      AllowedHosts.checkAddress(ServiceHost.OptionKey, to.getHostString, found.getAddress, portOf(to))

    private def pass[A](to: InetSocketAddress, done: Future[A], found: Promise[A])(
        addresses: A => JList[InetSocketAddress]
    ): Unit =
      if (!done.isSuccess) found.setFailure(done.cause)
      else
        Try(addresses(done.getNow).asScala.foreach(checkAddress(to)))
          .fold(found.setFailure(_), _ => found.setSuccess(done.getNow))
  }
}
