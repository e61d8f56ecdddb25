package io.github.pulsarspark.pulsar.transactions

import java.lang.reflect.Proxy
import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.apache.pulsar.client.api.{MessageId, Producer, PulsarClientException, TypedMessageBuilder}
import org.apache.pulsar.client.impl.MessageIdImpl

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarException
import io.github.pulsarspark.options.{Authentication, ClientOptions}
import io.github.pulsarspark.pulsar.connection.ClusterCalls

class ControlProducerSuite extends UnitSuite {

  private def stub[A](of: Class[A])(answer: PartialFunction[String, AnyRef]): A =
    of.cast(Proxy.newProxyInstance(of.getClassLoader, Array(of),
      (self, method, _) => answer.applyOrElse(method.getName, (_: String) => self)))

  private def appending(answer: CompletableFuture[MessageId]): ControlProducer = appending(Seq(answer), Seq(0))

  /** @param lost
    *   when the connection was lost last, as each look at it shows
    */
  private def appending(answers: Seq[CompletableFuture[MessageId]], lost: Seq[Long]): ControlProducer = {
    val (next, times) = (answers.iterator, lost.iterator ++ Iterator.continually(lost.last))
    val message       = stub(classOf[TypedMessageBuilder[Array[Byte]]]) { case "sendAsync" => next.next() }
    val producer      = stub(classOf[Producer[Array[Byte]]]) {
      case "newMessage"                   => message
      case "getTopic"                     => "t"
      case "getLastDisconnectedTimestamp" => Long.box(times.next())
    }
    val options =
      ClientOptions("pulsar://nowhere:1", None, 1.second, Authentication.None, None, None, false, false, Map.empty)
    new ControlProducer("t", producer, new ClusterCalls(options, options.serviceUrl))
  }

  private def condition(answer: CompletableFuture[MessageId]): String =
    intercept[PulsarException](appending(answer).append("{}")).condition

  test("a record has an id; one that the broker dropped is an error") {
    assertEquals(appending(CompletableFuture.completedFuture(new MessageIdImpl(3, 4, -1))).append("{}"), "3:4")
    assertEquals(condition(CompletableFuture.completedFuture(new MessageIdImpl(-1, -1, -1))),
      "PULSAR_WRITE_DUPLICATE_DROPPED")
  }

  test("a record that the broker has already, behind a lost connection, is stored again, to know where") {
    val dropped = CompletableFuture.completedFuture[MessageId](new MessageIdImpl(-1, -1, -1))
    val stored  = CompletableFuture.completedFuture[MessageId](new MessageIdImpl(3, 4, -1))
    assertEquals(appending(Seq(dropped, stored), lost = Seq(0, 7)).append("{}"), "3:4")
  }

  test("a producer that was fenced is told from other failures") {
    assertEquals(condition(CompletableFuture.failedFuture(new PulsarClientException.ProducerFencedException("x"))),
      "PULSAR_SINK_FENCED")
    assertEquals(condition(CompletableFuture.failedFuture(new PulsarClientException.TopicTerminatedException("x"))),
      "PULSAR_SINK_TOPIC")
  }

  test("a connection that was lost since may have repeated messages, also when the clock was set back") {
    val before = Set("p0" -> 1000L)
    assert(!TaskTransaction.mayRepeat(before, before))
    assert(!TaskTransaction.mayRepeat(Set.empty, Set.empty))
    assert(TaskTransaction.mayRepeat(before, Set("p0" -> 2000L)))
    assert(TaskTransaction.mayRepeat(before, Set("p0" -> 900L)), "the clock was set back")
    assert(TaskTransaction.mayRepeat(before, before + ("p1" -> 900L)), "of another partition, or one that was added")
  }
}
