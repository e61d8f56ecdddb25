package io.github.pulsarspark.common

import io.netty.buffer.PooledByteBufAllocator

/** The memory outside the heap in which connections of this JVM keep what they send and receive: those to bookies, and
  * those to brokers where the Pulsar client takes Netty's default as well, which it does unless a JVM has many cores
  * for its memory.
  */
private[pulsarspark] object NetworkMemory {

  val allocator: PooledByteBufAllocator = PooledByteBufAllocator.DEFAULT

  /** Bytes the allocator holds at the moment, in use or kept for later. */
  def bytes: Long = allocator.metric.usedDirectMemory
}
