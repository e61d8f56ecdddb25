package io.github.pulsarspark.cluster

import java.net.{InetAddress, InetSocketAddress}

import scala.collection.concurrent.TrieMap

import io.netty.bootstrap.ServerBootstrap
import io.netty.channel.nio.NioEventLoopGroup
import io.netty.channel.socket.SocketChannel
import io.netty.channel.socket.nio.NioServerSocketChannel
import io.netty.channel.{Channel, ChannelHandler, ChannelInitializer}
import io.netty.handler.codec.LengthFieldBasedFrameDecoder
import io.netty.handler.codec.http.{HttpObjectAggregator, HttpServerCodec}
import org.apache.bookkeeper.proto.DataFormats.LedgerMetadataFormat.DigestType
import org.apache.pulsar.common.protocol.{ByteBufPair, Commands}

import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie
import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie.{Reply, Request}

/** A broker, an admin service and a bookie on this machine, for the connector's real clients. They have the topics that
  * they are given, and answer as Pulsar does.
  */
final class ScriptedCluster extends AutoCloseable {

  private val topics  = TrieMap.empty[String, StoredTopic]
  private val ledgers = TrieMap.empty[Long, IndexedSeq[Array[Byte]]]
  private val threads = new NioEventLoopGroup(2)
  private val bookie  = new ScriptedBookie(read(_))
  private val broker  = listen(Seq(
    ByteBufPair.getEncoder(false),
    new LengthFieldBasedFrameDecoder(Commands.DEFAULT_MAX_MESSAGE_SIZE + Commands.MESSAGE_SIZE_FRAME_PADDING, 0, 4, 0,
      4),
    new ScriptedBroker(topics.get(_), serviceUrl)
  ))
  private val admin =
    listen(Seq(new HttpServerCodec, new HttpObjectAggregator(1 << 16), new ScriptedAdmin(topics.get(_), bookie.id)))

  def serviceUrl: String = s"pulsar://127.0.0.1:${portOf(broker)}"
  def adminUrl: String   = s"http://127.0.0.1:${portOf(admin)}"

  /** Ledgers have one id in all topics. */
  def add(topic: StoredTopic): Unit = {
    topics(topic.name) = topic
    topic.ledgers.filter(l => topic.home(l.id) == LedgerHome.Bookie && !ledgers.contains(l.id)).foreach { ledger =>
      ledgers(ledger.id) = ledger.entries.map(e =>
        ScriptedBookie.stored(ledger.id, e.at.entryId, e.bytes, DigestType.CRC32C)
      )
    }
  }

  def remove(topic: StoredTopic): Unit = {
    topics.remove(topic.name)
    topic.ledgers.foreach(l => ledgers.remove(l.id))
  }

  /** Deletes a ledger from its bookie alone. */
  def lose(ledgerId: Long): Unit = { ledgers.remove(ledgerId); () }

  private def read(request: Request): Reply = ledgers.get(request.ledger).fold[Reply](Reply.Code(1)) { stored =>
    val entries = stored.slice(request.entry.toInt, request.entry.toInt + request.count)
    val sizes   = entries.scanLeft(0L)(_ + _.length).tail
    if (entries.isEmpty) Reply.Code(2)
    else Reply.Entries(entries.take(math.max(1, sizes.count(_ <= request.bytes))))
  }

  private def listen(handlers: => Seq[ChannelHandler]): Channel = new ServerBootstrap()
    .group(threads)
    .channel(classOf[NioServerSocketChannel])
    .childHandler(new ChannelInitializer[SocketChannel] {
      override def initChannel(channel: SocketChannel): Unit = { channel.pipeline.addLast(handlers: _*); () }
    })
    .bind(new InetSocketAddress(InetAddress.getLoopbackAddress, 0))
    .sync()
    .channel

  private def portOf(channel: Channel) = channel.localAddress match {
    case address: InetSocketAddress => address.getPort
    case other                      => throw new IllegalStateException(other.toString)
  }

  override def close(): Unit = {
    Seq(broker, admin).foreach(_.close().sync())
    threads.shutdownGracefully(0, 1, java.util.concurrent.TimeUnit.SECONDS).sync()
    bookie.close()
  }
}
