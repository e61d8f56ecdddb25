package io.github.pulsarspark.storage.bookkeeper.protocol

import java.io.IOException
import java.net.{InetSocketAddress, StandardSocketOptions}
import java.nio.ByteBuffer
import java.nio.channels.spi.SelectorProvider
import java.nio.channels.{ClosedByInterruptException, SelectionKey, Selector, SocketChannel}
import java.util.concurrent.TimeUnit

import scala.concurrent.duration.FiniteDuration

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.common.NetworkMemory

/** A TCP connection to a bookie. Requests are sent without waiting; frames are read by the thread that needs them, from
  * the socket into the memory where they stay. Used by one thread, which never waits longer than its deadline.
  *
  * Failures are [[ReplicaFailed]], whatever the reason. After one nothing but [[close]] is called.
  */
private[protocol] final class BookieSocket private (channel: SocketChannel, selector: Selector, key: SelectionKey)
    extends AutoCloseable {
  import BookieSocket._

  private val size     = ByteBuffer.allocate(4)
  private var outgoing = ByteBuffer.allocate(16 * ReadRequest.MaxBytes)
  private var started  = 0L // of the wait
  private var moved    = 0L // when bytes were last received

  /** Sends a request, or keeps it until a frame is waited for.
    *
    * @param request
    *   writes at most [[ReadRequest.MaxBytes]]
    */
  def send(request: ByteBuffer => Unit): Unit = {
    if (outgoing.remaining < ReadRequest.MaxBytes)
      outgoing = ByteBuffer.allocate(2 * outgoing.capacity).put(outgoing.flip())
    request(outgoing)
    if (channel.isConnected) attempt(flush())
    ()
  }

  /** Starts the timeout of [[receive]]. */
  def startWaiting(): Unit = {
    started = System.nanoTime()
    moved = started
  }

  /** The next frame without its size. The caller releases it.
    *
    * @param stall
    *   how long the bookie may be silent
    * @param until
    *   the deadline, by `System.nanoTime`
    */
  def receive(stall: FiniteDuration, until: Long): ByteBuf = {
    def await(readiness: Int): Unit    = waitFor(readiness, math.min(moved + stall.toNanos, until))
    def fill(target: ByteBuffer): Unit = while (target.hasRemaining) {
      val read = channel.read(target)
      if (read < 0) throw new ConnectionEnded("it closed the connection")
      if (read == 0) await(SelectionKey.OP_READ) else moved = System.nanoTime()
    }
    attempt {
      while (!channel.isConnected && !channel.finishConnect()) await(SelectionKey.OP_CONNECT)
      while (!flush()) await(SelectionKey.OP_WRITE)
      size.clear()
      fill(size)
      val length = size.getInt(0)
      if (length < 0 || length > MaxFrameBytes)
        throw new ReplicaFailed(s"it announces $length bytes", isSlow = false)
      val frame = NetworkMemory.allocator.directBuffer(length, length)
      orUndo(frame.release()) {
        fill(frame.internalNioBuffer(0, length))
        frame.writerIndex(length)
      }
    }
  }

  private def flush(): Boolean = {
    outgoing.flip()
    channel.write(outgoing)
    outgoing.compact()
    outgoing.position() == 0
  }

  /** Waits until the socket is ready, or fails when there was enough waiting. */
  private def waitFor(readiness: Int, until: Long): Unit = {
    key.interestOps(readiness)
    val now  = System.nanoTime()
    val left = until - now
    if (left <= 0)
      throw new ReplicaFailed(s"it did not answer within ${TimeUnit.NANOSECONDS.toMillis(now - started)} ms",
        isSlow = true)
    selector.select(TimeUnit.NANOSECONDS.toMillis(left) + 1)
    if (Thread.interrupted()) throw new InterruptedException
    selector.selectedKeys.clear()
  }

  private def attempt[A](work: => A): A = {
    val wasConnected = channel.isConnected
    try work
    catch {
      case _: ClosedByInterruptException  => throw new InterruptedException
      case e: IOException if wasConnected => throw new ConnectionEnded(textOf(e))
      case e: IOException                 => throw new ReplicaFailed(textOf(e), isSlow = true)
    }
  }

  override def close(): Unit =
    try channel.close()
    finally selector.close()
}

private[protocol] object BookieSocket {

  /** Limit of a frame: a bookie's default limit of a response, as in its own client, plus the sizes of its entries. */
  private val MaxFrameBytes = 5 * 1024 * 1024 + 64 * 1024

  /** Begins to connect. Fails with [[ReplicaFailed]], and then leaves nothing open.
    *
    * @param sockets
    *   what makes them
    */
  def connect(address: InetSocketAddress, sockets: SelectorProvider): BookieSocket = {
    val channel = opened(sockets.openSocketChannel())
    orUndo(channel.close()) {
      val selector = opened(sockets.openSelector())
      orUndo(selector.close()) {
        val key = opened {
          channel.configureBlocking(false)
          channel.setOption[java.lang.Boolean](StandardSocketOptions.TCP_NODELAY, true)
          channel.register(selector, SelectionKey.OP_CONNECT)
        }
        try channel.connect(address)
        catch {
          case _: ClosedByInterruptException => throw new InterruptedException
          case e: IOException                => throw new ReplicaFailed(textOf(e), isSlow = true)
        }
        new BookieSocket(channel, selector, key)
      }
    }
  }

  /** The bookie is not to blame when this process has too many open files. */
  private def opened[A](open: => A): A =
    try open
    catch {
      case e: IOException => throw new ReplicaFailed(s"no socket could be opened (${textOf(e)})", isSlow = false)
    }

  /** Undoes something when the work fails. */
  private def orUndo[A](undo: => Any)(work: => A): A = {
    var isDone = false
    try {
      val result = work
      isDone = true
      result
    } finally if (!isDone) undo
  }

  private def textOf(e: IOException): String = Option(e.getMessage).getOrElse(e.toString)
}
