package io.github.pulsarspark.storage.bookkeeper

import java.io.IOException
import java.net.InetSocketAddress
import java.nio.ByteBuffer
import java.nio.channels.{AsynchronousSocketChannel, CompletionHandler}
import java.util.concurrent.{CompletableFuture, TimeUnit, TimeoutException}

import io.github.pulsarspark.storage.bookkeeper.protocol.ReadRequest

/** A connection to a bookie with one request: to read from a ledger that does not exist. Any reaction, even a closed
  * connection, shows that the bookie is alive; a process that hangs does neither, though its machine accepts
  * connections.
  */
private[storage] final class BookieProbe private (channel: AsynchronousSocketChannel) {
  import BookieProbe._

  @volatile private var isConnected = false
  private val answered              = new CompletableFuture[Void]

  private def begin(address: InetSocketAddress): Unit = {
    val request = ByteBuffer.allocate(ReadRequest.MaxBytes)
    ReadRequest.writeSingle(request, NoLedger, 0)
    request.flip()
    answered.whenComplete((_, _) => channel.close())
    channel.connect(
      address,
      (),
      step[Void] {
        isConnected = true
        channel.write(request, (),
          step[Integer](channel.read(ByteBuffer.allocate(1), (), step[Integer](answered.complete(null)))))
      }
    )
  }

  private def step[A](next: => Any): CompletionHandler[A, Unit] = new CompletionHandler[A, Unit] {
    override def completed(result: A, nothing: Unit): Unit       = { next; () }
    override def failed(failure: Throwable, nothing: Unit): Unit = { answered.completeExceptionally(failure); () }
  }

  private def problem(failure: Throwable): Option[String] = failure match {
    case _ if !isConnected   => Some(NoConnection)
    case _: TimeoutException => Some(NoAnswer)
    case _                   => None // it closed the connection
  }
}

private[storage] object BookieProbe {
  val NoConnection = "no connection to"
  val NoAnswer     = "no answer from"

  /** Ledgers have smaller ids. */
  private val NoLedger = Long.MaxValue

  /** Probes a bookie. Returns its problem; None if it is alive. Never fails. */
  def apply(address: InetSocketAddress, patienceMillis: Long): CompletableFuture[Option[String]] =
    try {
      val probe = new BookieProbe(AsynchronousSocketChannel.open())
      probe.begin(address)
      probe.answered.orTimeout(patienceMillis, TimeUnit.MILLISECONDS).handle((_, failure) =>
        Option(failure).flatMap(probe.problem)
      )
    } catch { case _: IOException => CompletableFuture.completedFuture(Some(NoConnection)) }
}
