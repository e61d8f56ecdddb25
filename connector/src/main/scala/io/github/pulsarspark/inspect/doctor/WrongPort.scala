package io.github.pulsarspark.inspect.doctor

import io.github.pulsarspark.errors.{Conditions, Occurrence}
import io.github.pulsarspark.pulsar.connection.{PortProtocol, ServiceHost}

/** Explains an address that does not answer as it should by what its port speaks. */
private[doctor] object WrongPort {

  /** Tries the hosts one after the other, until one speaks something else.
    *
    * @param option
    *   the option that has the address
    * @param other
    *   what a port of another protocol does, and the address to set instead
    */
  def of(option: String, url: String)(
      other: PartialFunction[(PortProtocol, ServiceHost), (String, String)]
  ): Option[Occurrence] =
    ServiceHost.of(url).iterator.flatMap { host =>
      PortProtocol.of(host).map(_ -> host).collect(other).map { case (speaks, instead) =>
        Conditions.WrongPort(option = option, address = host.toString, speaks = speaks, instead = instead)
      }
    }.nextOption()
}
