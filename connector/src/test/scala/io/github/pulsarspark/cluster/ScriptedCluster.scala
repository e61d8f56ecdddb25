package io.github.pulsarspark.cluster

import java.net.{InetAddress, InetSocketAddress}
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}

import scala.collection.concurrent.TrieMap
import scala.jdk.CollectionConverters._

import io.netty.bootstrap.ServerBootstrap
import io.netty.channel.nio.NioEventLoopGroup
import io.netty.channel.socket.SocketChannel
import io.netty.channel.socket.nio.NioServerSocketChannel
import io.netty.channel.{Channel, ChannelHandler, ChannelInitializer}
import io.netty.handler.codec.LengthFieldBasedFrameDecoder
import io.netty.handler.codec.http.{HttpObjectAggregator, HttpServerCodec}
import org.apache.bookkeeper.proto.DataFormats.LedgerMetadataFormat.DigestType
import org.apache.pulsar.common.protocol.{ByteBufPair, Commands}

import io.github.pulsarspark.position.Position
import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie
import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie.{Reply, Request}

/** A broker, an admin service and a bookie on this machine, for the connector's real clients. They have the topics that
  * they are given, and answer as Pulsar does.
  *
  * @param elsewhere
  *   the address that the broker advertises; its own if None
  */
final class ScriptedCluster(elsewhere: Option[String] = None) extends AutoCloseable {

  private val topics  = TrieMap.empty[String, StoredTopic]
  private val ledgers = TrieMap.empty[Long, IndexedSeq[Array[Byte]]]
  private val lost    = ConcurrentHashMap.newKeySet[Long]
  private val threads = new NioEventLoopGroup(2)
  private val asked   = new ConcurrentLinkedQueue[String]

  /** Producers and transactions. */
  private[pulsarspark] val writes = new ScriptedWrites(append(_, _, _, _))
  private val open                = ConcurrentHashMap.newKeySet[ScriptedBroker]
  private lazy val changes        = new ScriptedChanges(topics.keys, add, name => topics.get(name).foreach(remove))
  private val bookie              = new ScriptedBookie(read(_))
  private val broker              = listen(Seq(
    ByteBufPair.getEncoder(false),
    new LengthFieldBasedFrameDecoder(Commands.DEFAULT_MAX_MESSAGE_SIZE + Commands.MESSAGE_SIZE_FRAME_PADDING, 0, 4, 0,
      4),
    new ScriptedBroker(topics, elsewhere.getOrElse(serviceUrl), open, writes, name => changes.make(name): Unit)
  ))
  private val admin = listen(Seq(new HttpServerCodec, new HttpObjectAggregator(1 << 16),
    new ScriptedAdmin(topics.get(_), bookie.id, path => { asked.add(path); () }, changes(_, _, _))))

  def serviceUrl: String = s"pulsar://127.0.0.1:${portOf(broker)}"
  def adminUrl: String   = s"http://127.0.0.1:${portOf(admin)}"

  /** Adds a topic partition, or changes it: consumers get what is new. Ledgers have one id in all topics. */
  def add(topic: StoredTopic): Unit = {
    topic.ledgers.filter(l =>
      topic.home(l.id) == LedgerHome.Bookie && !lost.contains(l.id) && ledgers.get(l.id).forall(isShorter(_, l))
    )
      .foreach { ledger =>
        ledgers(ledger.id) = ledger.entries.map(e =>
          ScriptedBookie.stored(ledger.id, e.at.entryId, e.bytes, DigestType.CRC32C)
        )
      }
    topics(topic.name) = topic
    open.forEach(_.changed(topic.name))
  }

  private def isShorter(stored: Seq[Array[Byte]], ledger: TopicLedger) = stored.size < ledger.entries.size

  /** Topics that the admin service does not delete from now on, because somebody uses them. */
  def use(topics: String*): Unit = changes.inUse = topics.toSet

  /** Names of all topic partitions. */
  def names: Set[String] = topics.keySet.toSet

  /** A topic partition as it is now. */
  def topic(name: String): StoredTopic = topics(name)

  /** Appends to the newest ledger of a topic partition. */
  private def append(name: String, bytes: Array[Byte], messages: Int, txn: Option[(Long, Long)]): Position =
    synchronized {
      val before = topics(name)
      val open   = before.ledgers.last
      val at     = Position(open.id, open.entries.size.toLong)
      val entry  = TopicEntry(at, bytes, TopicEntry.Messages(txn), System.currentTimeMillis, messages)
      add(before.copy(ledgers = before.ledgers.init :+ open.copy(entries = open.entries :+ entry)))
      at
    }

  /** Deletes a topic partition and closes its consumers. */
  def remove(topic: StoredTopic): Unit = {
    topics.remove(topic.name)
    writes.subscriptions.keys.filter(_._1 == topic.name).foreach(writes.subscriptions.remove)
    topic.ledgers.foreach { l =>
      ledgers.remove(l.id)
      lost.remove(l.id)
    }
    open.forEach(_.deleted(topic.name))
  }

  /** Requests to the admin service since the last call, by their paths. */
  def takeAdminRequests(): Seq[String] = Iterator.continually(asked.poll()).takeWhile(_ != null).toSeq

  /** Number of open consumers. */
  def consumers: Int = open.asScala.toSeq.map(_.consumerCount).sum

  /** Deletes a ledger from its bookie alone, for as long as its topic partition exists. */
  def lose(ledgerId: Long): Unit = {
    lost.add(ledgerId)
    ledgers.remove(ledgerId)
    ()
  }

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
