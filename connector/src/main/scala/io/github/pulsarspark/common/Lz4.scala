package io.github.pulsarspark.common

import net.jpountz.lz4.LZ4Factory

/** The LZ4 library that Spark brings. */
private[pulsarspark] object Lz4 {

  /** The native one: it unpacks about five times as fast as Java, and packs in six tenths of the time of the Pulsar
    * client's. `fastestInstance` alone would pick it only where Spark is on the system class path.
    */
  lazy val factory: LZ4Factory =
    try LZ4Factory.nativeInstance()
    catch { case _: LinkageError | _: AssertionError => LZ4Factory.fastestInstance() }
}
