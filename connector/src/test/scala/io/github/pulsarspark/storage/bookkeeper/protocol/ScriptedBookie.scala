package io.github.pulsarspark.storage.bookkeeper.protocol

import java.io.{DataInputStream, DataOutputStream, EOFException, IOException}
import java.net.{InetAddress, ServerSocket, Socket}
import java.nio.ByteBuffer
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Random

import io.netty.buffer.{ByteBuf, Unpooled, UnpooledByteBufAllocator}
import org.apache.bookkeeper.proto.DataFormats.LedgerMetadataFormat.DigestType
import org.apache.bookkeeper.proto.checksum.DigestManager
import org.apache.bookkeeper.util.ByteBufList

import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie._

/** A bookie on this machine that answers as it is told to.
  *
  * @param shuffle
  *   the order of answers to requests that came together; None to keep theirs
  */
final class ScriptedBookie(answer: Request => Reply, shuffle: Option[Random] = None) extends AutoCloseable {

  private val server  = new ServerSocket(0, 50, InetAddress.getLoopbackAddress)
  private val sockets = new CopyOnWriteArrayList[Socket]
  private val asked   = new CopyOnWriteArrayList[Request]
  private val serving = new AtomicInteger

  inBackground {
    while (true) {
      val socket = server.accept()
      sockets.add(socket)
      serving.incrementAndGet()
      inBackground {
        try serve(socket)
        finally serving.decrementAndGet()
      }
    }
  }

  def id: String             = s"127.0.0.1:${server.getLocalPort}"
  def requests: Seq[Request] = asked.asScala.toSeq

  /** Number of connections that it ever had. */
  def connections: Int = sockets.size

  /** Number of connections that its clients have not closed. */
  def open: Int = serving.get

  private def serve(socket: Socket): Unit = {
    val in  = new DataInputStream(socket.getInputStream)
    val out = new DataOutputStream(socket.getOutputStream)
    while (true) {
      val together = mutable.Buffer(read(in))
      while (in.available() >= ReadRequest.MaxBytes) together += read(in)
      asked.addAll(together.asJava)
      shuffle.fold(together)(_.shuffle(together)).foreach(request => write(out, socket, answer(request), request))
    }
  }

  private def read(in: DataInputStream): Request = {
    val bytes = new Array[Byte](in.readInt())
    in.readFully(bytes)
    val b    = ByteBuffer.wrap(bytes)
    val head = (b.get(), b.get(), b.getShort(), b.getLong(), b.getLong())
    val more = if (b.hasRemaining) (b.getLong(), b.getInt(), b.getLong()) else (0L, 1, Long.MaxValue)
    Request(head._1, head._2, head._3, head._4, head._5, more._1, more._2, more._3)
  }

  private def write(out: DataOutputStream, socket: Socket, reply: Reply, request: Request): Unit = {
    out.write(reply match {
      case Reply.Bytes(bytes)     => bytes
      case Reply.Code(code)       => framed(head(request, code, request.id).array)
      case Reply.Entries(entries) =>
        framed(head(request, 0, request.id).array ++
          entries.flatMap(e => (if (request.isBatch) int(e.length) else Array.emptyByteArray) ++ e))
      case Reply.Answering(id, e) => framed(head(request, 0, id).array ++ int(e.length) ++ e)
      case Reply.Close            => Array.emptyByteArray
    })
    if (reply == Reply.Close) socket.close()
  }

  override def close(): Unit = {
    server.close()
    sockets.forEach(_.close())
  }
}

object ScriptedBookie {
  final case class Request(
      version: Int,
      operation: Int,
      flags: Int,
      ledger: Long,
      entry: Long,
      id: Long,
      count: Int,
      bytes: Long
  ) {
    def isBatch: Boolean = operation == 7
  }

  sealed trait Reply
  object Reply {
    final case class Entries(stored: Seq[Array[Byte]])            extends Reply
    final case class Answering(request: Long, entry: Array[Byte]) extends Reply
    final case class Code(code: Int)                              extends Reply
    final case class Bytes(bytes: Array[Byte])                    extends Reply
    case object Close                                             extends Reply
    val Silence: Reply = Bytes(Array.emptyByteArray)
  }

  /** The head of an answer, without the frame's size. */
  def head(request: Request, code: Int, id: Long): ByteBuffer =
    if (request.isBatch)
      ByteBuffer.allocate(32).putInt((2 << 24) | (7 << 16)).putInt(code).putLong(request.ledger).putLong(
        request.entry
      ).putLong(id)
    else
      ByteBuffer.allocate(24).putInt((2 << 24) | (2 << 16)).putInt(code).putLong(request.ledger).putLong(request.entry)

  def framed(bytes: Array[Byte]): Array[Byte] = int(bytes.length) ++ bytes

  def int(value: Int): Array[Byte] = ByteBuffer.allocate(4).putInt(value).array

  /** An entry as BookKeeper's own code prepares it for its bookies. */
  def stored(ledgerId: Long, entryId: Long, payload: Array[Byte], digest: DigestType): Array[Byte] = {
    val manager =
      DigestManager.instantiate(ledgerId, Array.emptyByteArray, digest, UnpooledByteBufAllocator.DEFAULT, true)
    val request =
      manager.computeDigestAndPackageForSending(entryId, entryId - 1, 77, Unpooled.wrappedBuffer(payload),
        new Array[Byte](20), 0) match {
        case parts: ByteBufList =>
          try ByteBufList.coalesce(parts) // a copy
          finally parts.release()
        case whole: ByteBuf => whole
        case other          => throw new IllegalStateException(other.toString)
      }
    val bytes = new Array[Byte](request.readableBytes - AddRequestHead)
    request.getBytes(request.readerIndex + AddRequestHead, bytes)
    request.release()
    bytes
  }

  /** Size, header and the ledger's key. */
  private val AddRequestHead = 4 + 4 + 20

  private def inBackground(work: => Unit): Unit = {
    val thread = new Thread(() =>
      try work
      catch { case _: EOFException | _: IOException => () } // closed
    )
    thread.setDaemon(true)
    thread.start()
  }
}
