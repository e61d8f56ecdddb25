package io.github.pulsarspark.pulsar

import scala.util.Using

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.pulsar.connection.ClientPool

class PulsarConnectionSuite extends UnitSuite {

  private def options(more: (String, String)*) = ClientOptions(
    CheckedOptions(Map("service.url" -> "pulsar://connection.test:1", "topic" -> "t") ++ more, Scope.BatchRead,
      _ => Nil)
  )

  test("connections with equal options share a client, also after one of them is closed twice") {
    val before = ClientPool.size
    val first  = PulsarConnection(options())
    Using.resource(PulsarConnection(options())) { second =>
      assertEquals(ClientPool.size, before + 1)
      first.close()
      first.close()
      assert(second.broker().schemas(Nil).isEmpty)
      Using.resource(PulsarConnection(options()))(_ => assertEquals(ClientPool.size, before + 1))
    }
  }

  test("equal arguments return the same object for requests") {
    Using.resource(PulsarConnection(options())) { connection =>
      assert(connection.broker("a") eq connection.broker("a"))
      assert(connection.broker("a") ne connection.broker("b"))
      assert(connection.broker("a") ne connection.broker("a", readCompacted = true))
    }
  }

  test("the admin service is there with admin.url alone") {
    Using.resource(PulsarConnection(options()))(c => assertEquals(c.admin.map(_.url), None))
    Using.resource(PulsarConnection(options("admin.url" -> "http://connection.test:2"))) { connection =>
      assertEquals(connection.admin.map(_.url), Some("http://connection.test:2"))
    }
  }
}
