package io.github.pulsarspark.pulsar.producer

import java.lang.reflect.{InvocationHandler, Proxy}
import java.util.concurrent.{CompletableFuture, ConcurrentHashMap}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicLong}

import scala.concurrent.duration._
import scala.reflect.ClassTag

import munit.FunSuite
import org.apache.pulsar.client.api.{MessageId, Producer, TypedMessageBuilder}

import io.github.pulsarspark.options.WriteOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.schema.columns.OutgoingMessage

class KeptProducersSuite extends FunSuite {

  /** A producer whose messages are never acknowledged. */
  private final class Fake {
    val closed, released      = new AtomicInteger
    @volatile var isConnected = true

    private lazy val message: TypedMessageBuilder[Array[Byte]] = proxy[TypedMessageBuilder[Array[Byte]]] {
      case "value"     => message
      case "sendAsync" => new CompletableFuture[MessageId]
    }
    private val producer = proxy[Producer[Array[Byte]]] {
      case "isConnected"        => Boolean.box(isConnected)
      case "getNumOfPartitions" => Int.box(0)
      case "newMessage"         => message
      case "closeAsync"         =>
        closed.incrementAndGet()
        CompletableFuture.completedFuture(null)
    }
    val open = new OpenProducer(producer, None, () => { released.incrementAndGet(); () })
  }

  private def proxy[A](methods: PartialFunction[String, AnyRef])(implicit face: ClassTag[A]): A = {
    val handler: InvocationHandler = (_, method, _) => methods(method.getName)
    Proxy.newProxyInstance(getClass.getClassLoader, Array(face.runtimeClass), handler).asInstanceOf[A]
  }

  private final class Kept(most: Int = 100) {
    val now                              = new AtomicLong
    val pool                             = new KeptProducers[String](60.seconds, most, () => now.get)
    def pass(time: FiniteDuration): Unit = { now.addAndGet(time.toNanos); pool.cleanUp() }
  }

  test("who takes a producer has it alone, and only one with its key") {
    val (kept, fake) = (new Kept, new Fake)
    kept.pool.put("a", fake.open)
    assertEquals(kept.pool.take("b"), None)
    assertEquals(kept.pool.take("a"), Some(fake.open))
    assertEquals(kept.pool.take("a"), None)
    assertEquals(fake.closed.get, 0)
  }

  test("one that nobody takes is closed after its time, which begins anew with each use") {
    val (kept, fake) = (new Kept, new Fake)
    kept.pool.put("a", fake.open)
    kept.pass(59.seconds)
    kept.pool.put("a", kept.pool.take("a").get)
    kept.pass(59.seconds)
    assertEquals(fake.closed.get, 0)
    kept.pass(2.seconds)
    assertEquals((fake.closed.get, fake.released.get), (1, 1))
    assertEquals(kept.pool.take("a"), None)
  }

  test("no more are kept than may be") {
    val (kept, fakes) = (new Kept(most = 10), Seq.fill(30)(new Fake))
    fakes.zipWithIndex.foreach { case (fake, i) => kept.pool.put(s"topic ${i % 5}", fake.open) }
    kept.pass(Duration.Zero)
    assertEquals(fakes.map(_.closed.get).sum, 20)
    val (ofOne, same) = (new Kept, Seq.fill(20)(new Fake))
    same.foreach(fake => ofOne.pool.put("a", fake.open))
    assertEquals(same.map(_.closed.get).sum, 4)
  }

  test("one that is not connected is closed and not used") {
    val (kept, lost, good) = (new Kept, new Fake, new Fake)
    kept.pool.put("a", lost.open)
    kept.pool.put("a", good.open)
    lost.isConnected = false
    assertEquals(kept.pool.take("a"), Some(good.open))
    assertEquals(lost.closed.get, 1)
  }

  test("many tasks at a time: each producer has one user, and all are closed in the end") {
    val (kept, users, fakes) =
      (new Kept, ConcurrentHashMap.newKeySet[OpenProducer](), ConcurrentHashMap.newKeySet[Fake]())
    val isShared = new AtomicBoolean
    val threads  = Seq.fill(8)(new Thread(() =>
      for (turn <- 1 to 5000) {
        val key  = s"topic ${turn % 3}"
        val mine = kept.pool.take(key).getOrElse { val fake = new Fake; fakes.add(fake); fake.open }
        if (!users.add(mine)) isShared.set(true)
        users.remove(mine)
        kept.pool.put(key, mine)
      }
    ))
    threads.foreach(_.start())
    threads.foreach(_.join(60000))
    assert(!isShared.get)
    assert(fakes.size <= 24, fakes.size)
    kept.pass(61.seconds)
    fakes.forEach(fake => assertEquals((fake.closed.get, fake.released.get), (1, 1)))
  }

  private val options =
    WriteOptions(CheckedOptions(Map("service.url" -> "pulsar://h:1"), Scope.StreamWrite, _ => Nil))

  test("a task leaves its producer to others unless something is not acknowledged") {
    val (kept, fake) = (new Kept, new Fake)
    def producer     = new TopicProducer("t", fake.open, options, Some(kept.pool.put("t", _)))
    producer.close()
    assertEquals(kept.pool.take("t"), Some(fake.open))
    val unfinished = producer
    unfinished.send(new OutgoingMessage)
    unfinished.close()
    assertEquals(kept.pool.take("t"), None)
    assertEquals(fake.closed.get, 1)
  }
}
