package io.github.pulsarspark.pulsar.producer

import java.lang.reflect.{InvocationHandler, Proxy}
import java.util.concurrent.{CompletableFuture, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}

import scala.concurrent.duration._
import scala.util.Try

import org.apache.pulsar.client.api.{MessageId, Producer, TypedMessageBuilder}
import org.apache.pulsar.client.impl.MessageIdImpl

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{Conditions, PulsarException}
import io.github.pulsarspark.options.WriteOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.transactions.{TaskTransaction, TransactionId}
import io.github.pulsarspark.schema.columns.OutgoingMessage

class TopicProducerSuite extends UnitSuite {

  private def later(seconds: Long) = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds)

  test("the wait for acknowledgements ends with the last one, or at its deadline") {
    val looks = Iterator.from(1)
    assert(TopicProducer.waitFor(later(60))(looks.next() == 3))
    assertEquals(looks.next(), 4)
    assert(TopicProducer.waitFor(System.nanoTime() - 1)(true))
    assert(!TopicProducer.waitFor(System.nanoTime() - 1)(false))
  }

  test("a killed task does not wait for acknowledgements") {
    val waiting = new CountDownLatch(1)
    val outcome = new AtomicReference[Try[Boolean]]
    val task    = new Thread(() => outcome.set(Try(TopicProducer.waitFor(later(600)) { waiting.countDown(); false })))
    task.setDaemon(true)
    // scala.util.Try lets interruptions through, so that the thread itself has to take them.
    task.setUncaughtExceptionHandler((_, e) => outcome.set(scala.util.Failure(e)))
    task.start()
    assert(waiting.await(60, TimeUnit.SECONDS))
    task.interrupt()
    task.join(TimeUnit.SECONDS.toMillis(60))
    assert(!task.isAlive, "the wait goes on")
    assert(outcome.get.failed.get.isInstanceOf[InterruptedException], outcome.get)
  }

  /** A producer whose requests to close it are never answered. */
  private def silent(requests: AtomicInteger): TopicProducer = {
    val handler: InvocationHandler = (_, method, _) => {
      assertEquals(method.getName, "closeAsync")
      requests.incrementAndGet()
      new CompletableFuture[Void]
    }
    val producer = Proxy.newProxyInstance(getClass.getClassLoader, Array(classOf[Producer[_]]), handler)
    new TopicProducer("t", new OpenProducer(producer.asInstanceOf[Producer[Array[Byte]]], None, () => ()), options)
  }

  private val options = WriteOptions(CheckedOptions(
    Map("service.url" -> "pulsar://h:1", "operationTimeoutMs" -> "200"),
    Scope.BatchWrite,
    _ => Nil
  ))

  test("producers close at the same time, with one deadline; a silent one fails nothing") {
    val requests = new AtomicInteger
    val began    = System.nanoTime()
    TopicProducer.close(Seq.fill(50)(silent(requests)), options.client.operationTimeout)
    assert((System.nanoTime() - began).nanos < 5.seconds)
    assertEquals(requests.get, 50)
    silent(requests).close()
  }

  test("a killed task requests the close of all its producers and waits for none") {
    val requests = new AtomicInteger
    Thread.currentThread.interrupt()
    TopicProducer.close(Seq.fill(3)(silent(requests)), 1.hour)
    assert(Thread.interrupted(), "the interruption is forgotten")
    assertEquals(requests.get, 3)
  }

  test("an object that opens after its opener was interrupted is closed") {
    val (opening, closed) = (new CompletableFuture[String], new CompletableFuture[String])
    val opener            = new Thread(() => {
      new ClusterCalls(options.client, "pulsar://h:1").awaitOwned("Opening")(opening) { late =>
        closed.complete(late); ()
      }
      ()
    })
    opener.setUncaughtExceptionHandler((_, _) => ()) // munit does not intercept interruptions
    opener.start()
    opener.interrupt()
    opener.join(60000)
    assert(!opener.isAlive)
    opening.complete("late")
    assertEquals(closed.getNow("lost"), "late")
    assertEquals(
      new ClusterCalls(options.client, "pulsar://h:1").awaitOwned("Opening")(opening)(_ => fail("it is in use")),
      "late"
    )
  }

  test("a task leaves its producer to others unless something is not acknowledged") {
    lazy val message: TypedMessageBuilder[Array[Byte]] = ByName[TypedMessageBuilder[Array[Byte]]] {
      case "value"     => message
      case "sendAsync" => new CompletableFuture[MessageId]
    }
    val closed   = new AtomicInteger
    val producer = ByName[Producer[Array[Byte]]] {
      case "getNumOfPartitions" => Int.box(0)
      case "newMessage"         => message
      case "closeAsync"         =>
        closed.incrementAndGet()
        CompletableFuture.completedFuture(null)
    }
    val open   = new OpenProducer(producer, None, () => ())
    var left   = Seq.empty[OpenProducer]
    def ofTask = new TopicProducer("t", open, options, Some(one => left :+= one))
    ofTask.close()
    assertEquals((left, closed.get), (Seq(open), 0))
    val unfinished = ofTask
    unfinished.send(new OutgoingMessage)
    unfinished.close()
    assertEquals((left, closed.get), (Seq(open), 1))
  }

  test("rows of a task have ids of their own, all or none: the client's would be dropped between them") {
    lazy val message: TypedMessageBuilder[Array[Byte]] = ByName[TypedMessageBuilder[Array[Byte]]] {
      case "value" | "sequenceId" => message
      case "sendAsync"            => CompletableFuture.completedFuture[MessageId](new MessageIdImpl(1, 1, -1))
    }
    val producer = ByName[Producer[Array[Byte]]] {
      case "getNumOfPartitions" => Int.box(0)
      case "newMessage"         => message
      case "getTopic"           => "t"
    }
    def send(ids: Long*): Unit = {
      val task = new TopicProducer("t", new OpenProducer(producer, None, () => ()), options)
      val row  = new OutgoingMessage
      ids.foreach { id =>
        row.sequenceId = id
        task.send(row)
      }
    }
    send(1, 2)
    send(-1, -1)
    for (mixed <- Seq(Seq(1L, -1L), Seq(-1L, 1L))) {
      val refused = intercept[PulsarException](send(mixed: _*))
      assertEquals(refused.condition, "PULSAR_WRITE_VALUE_NOT_ALLOWED")
    }
  }

  /** Result of one row with this sequence id whose message the broker drops as a duplicate. */
  private def dropped(rowId: Long, lastBefore: Long, initial: Boolean = false): Try[Unit] = {
    val answer = CompletableFuture.completedFuture[MessageId](new MessageIdImpl(-1, -1, -1))
    lazy val message: TypedMessageBuilder[Array[Byte]] = ByName[TypedMessageBuilder[Array[Byte]]] {
      case "value" | "sequenceId" => message
      case "sendAsync"            => answer
    }
    val producer = ByName[Producer[Array[Byte]]] {
      case "getNumOfPartitions"           => Int.box(0)
      case "newMessage"                   => message
      case "getLastSequenceId"            => Long.box(lastBefore)
      case "getLastDisconnectedTimestamp" => Long.box(0)
      case "getTopic"                     => "t"
      case "flushAsync"                   => CompletableFuture.completedFuture(null)
    }
    val open     = new OpenProducer(producer, None, () => (), partitions = () => Seq(producer))
    val settings = if (initial) Map("initialSequenceId" -> "0") else Map.empty[String, String]
    val task     = new TopicProducer("t", open, options.copy(producer = settings))
    val row      = new OutgoingMessage
    row.sequenceId = rowId
    task.send(row)
    Try(task.flush())
  }

  test("a connection that was lost in a transaction fails its task, since rows may be stored twice; no other task") {
    def flushed(transaction: Option[TaskTransaction]): Try[Unit] = {
      val lost     = Iterator(0L) ++ Iterator.continually(7L)
      val producer = ByName[Producer[Array[Byte]]] {
        case "getLastDisconnectedTimestamp" => Long.box(lost.next())
        case "getTopic"                     => "t"
        case "flushAsync"                   => CompletableFuture.completedFuture(null)
      }
      val open = new OpenProducer(producer, None, () => (), partitions = () => Seq(producer))
      Try(new TopicProducer("t", open, options, transaction = transaction).flush())
    }
    val failed = flushed(Some(new TaskTransaction(null, TransactionId(0, 1), () => ()))).failed.toOption
    assert(failed.exists(Conditions.WriteConnectionLost.is), failed)
    assert(flushed(None).isSuccess)
  }

  test("a row that the broker drops is lost, unless an earlier run of the producer's name wrote it") {
    assert(dropped(rowId = 9, lastBefore = 9).isSuccess)
    val lost = dropped(rowId = 10, lastBefore = 9).failed.get
    assert(lost.getMessage.startsWith("[PULSAR_WRITE_ROW_DROPPED] Topic t: "), lost.getMessage)
    assert(dropped(rowId = -1, lastBefore = 9).isFailure, "an id that the client gives is new")
    assert(dropped(rowId = -1, lastBefore = 9, initial = true).isSuccess, "unless the client began at some id")
  }
}
