package io.github.pulsarspark.policy

import java.util.concurrent.atomic.AtomicInteger

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError

final class PluginClassSuite extends UnitSuite with PolicyRules {
  import PluginClassSuite._

  private def isRefused(name: String) = {
    val e = intercept[IllegalArgumentException with PulsarError](PluginClass.create("x.plugin", name, classOf[Kind]))
    assertEquals((e.condition, e.parameters("option")), ("PULSAR_OPTION_INVALID", "x.plugin"))
    assert(e.getMessage.contains(s"`$name`") && e.getMessage.contains(classOf[Kind].getName), e.getMessage)
  }

  test("a class of the wanted kind, an object of it") {
    assertEquals(PluginClass.create("x.plugin", classOf[Right].getName, classOf[Kind]).number, 7)
  }

  test("a class of another kind, refused before its code runs") {
    isRefused(classOf[Wrong].getName)
    isRefused(s"${classOf[Wrong].getName.stripSuffix("Wrong")}Initialized$$")
    assertEquals(ran.get, 0)
  }

  test("a class that is missing, abstract, fails or wants arguments is refused") {
    Seq("no.such.Class", classOf[Kind].getName, classOf[Half].getName, classOf[Failing].getName,
      classOf[WithArgument].getName).foreach(isRefused)
  }

  test("a policy lists classes by their exact names, here or at their origin") {
    val plugin = classOf[org.apache.pulsar.client.impl.auth.AuthenticationToken].getName
    val policy = shared("classes" -> s"x.Y, $plugin")
    PluginClass.check(policy, "x.option", plugin)
    PluginClass.check(policy, "x.option", "x.Y")
    assertEquals(refused("classes")(PluginClass.check(policy, "x.option", "x.Y2")), "the class x.Y2")
    refused("classes")(PluginClass.check(policy, "x.option", "x.y"))
    refused("classes")(PluginClass.check(shared(), "x.option", plugin))
  }
}

private object PluginClassSuite {
  val ran = new AtomicInteger

  trait Kind { def number: Int }
  final class Right                         extends Kind { def number: Int = 7                                  }
  abstract class Half                       extends Kind
  final class Failing                       extends Kind { throw new IllegalStateException; def number: Int = 1 }
  final class WithArgument(val number: Int) extends Kind
  final class Wrong  { ran.incrementAndGet() }
  object Initialized { ran.incrementAndGet() }
}
