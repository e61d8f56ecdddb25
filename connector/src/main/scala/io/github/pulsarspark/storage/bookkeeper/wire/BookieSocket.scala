package io.github.pulsarspark.storage.bookkeeper.wire

import java.io.IOException
import java.net.{InetSocketAddress, StandardSocketOptions}
import java.nio.ByteBuffer
import java.nio.channels.{ClosedByInterruptException, SelectionKey, Selector, SocketChannel}
import java.util.concurrent.TimeUnit

import scala.concurrent.duration.FiniteDuration

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.client.NetworkMemory

/** A connection to a bookie. What was asked for is on its way while nobody waits; frames are read by who wants them, from the socket into the memory where they
  * stay. Used by one thread, which never waits longer than it was told.
  *
  * @param stall
  *   how long the bookie may be silent when a frame is waited for
  * @param patience
  *   how long a frame may take in all
  */
private[wire] final class BookieSocket(address: InetSocketAddress, stall: FiniteDuration, patience: FiniteDuration) extends AutoCloseable {
  import BookieSocket._

  private val channel  = SocketChannel.open()
  private val selector = Selector.open()
  private val outgoing = ByteBuffer.allocate(MostRequests * ReadRequest.Bytes)
  private val size     = ByteBuffer.allocateDirect(4)
  private var started  = 0L // of the frame that is waited for
  private var moved    = 0L // when something last came or went

  channel.configureBlocking(false)
  channel.setOption[java.lang.Boolean](StandardSocketOptions.TCP_NODELAY, true)
  private val key = channel.register(selector, SelectionKey.OP_CONNECT)

  /** Begins to connect. */
  def connect(): Unit =
    if (address.isUnresolved) throw new ReplicaFailed(s"there is no host ${address.getHostString}", isSlow = true)
    else {
      attempt(channel.connect(address))
      ()
    }

  /** Sends a request, or keeps it until the next frame is waited for. At most [[BookieSocket.MostRequests]] are sent without one being waited for. */
  def ask(ledgerId: Long, firstEntryId: Long, requestId: Long, entries: Int, bytes: Long): Unit = {
    ReadRequest.write(outgoing, ledgerId, firstEntryId, requestId, entries, bytes)
    if (channel.isConnected) attempt(send())
  }

  /** The next frame without its size. Who gets it releases it. */
  def receive(): ByteBuf = {
    started = System.nanoTime()
    moved = started
    attempt {
      while (!channel.isConnected && !channel.finishConnect()) await(SelectionKey.OP_CONNECT)
      while (!send()) await(SelectionKey.OP_WRITE)
      size.clear()
      fill(size)
      val length = size.getInt(0)
      if (length < 0 || length > MostFrameBytes) throw new ReplicaFailed(s"it wants to send $length bytes", isSlow = false)
      val frame    = NetworkMemory.allocator.directBuffer(length, length)
      var complete = false
      try {
        fill(frame.internalNioBuffer(0, length))
        complete = true
        frame.writerIndex(length)
      } finally if (!complete) frame.release()
    }
  }

  private def send(): Boolean = {
    outgoing.flip()
    channel.write(outgoing)
    outgoing.compact()
    outgoing.position() == 0
  }

  private def fill(target: ByteBuffer): Unit = while (target.hasRemaining) {
    val read = channel.read(target)
    if (read < 0) throw new ReplicaFailed("it closed the connection", isSlow = true)
    if (read == 0) await(SelectionKey.OP_READ) else moved = System.nanoTime()
  }

  /** Waits until the socket is ready, or fails when there was enough waiting. */
  private def await(readiness: Int): Unit = {
    key.interestOps(readiness)
    val now  = System.nanoTime()
    val left = math.min(moved + stall.toNanos, started + patience.toNanos) - now
    if (left <= 0)
      throw new ReplicaFailed(s"it did not answer within ${TimeUnit.NANOSECONDS.toMillis(now - started)} ms", isSlow = true)
    selector.select(TimeUnit.NANOSECONDS.toMillis(left) + 1)
    if (Thread.interrupted()) throw new InterruptedException
    selector.selectedKeys.clear()
  }

  private def attempt[A](work: => A): A =
    try work
    catch {
      case _: ClosedByInterruptException => throw new InterruptedException
      case e: IOException                => throw new ReplicaFailed(Option(e.getMessage).getOrElse(e.toString), isSlow = true)
    }

  override def close(): Unit =
    try channel.close()
    finally selector.close()
}

private[wire] object BookieSocket {
  val MostRequests = 16

  /** The most a bookie answers with by default, and what its own client takes, with the sizes of entries in between. */
  private val MostFrameBytes = 5 * 1024 * 1024 + 64 * 1024
}
