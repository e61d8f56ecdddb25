package io.github.pulsarspark.pulsar.connection

import java.net.{InetAddress, ServerSocket}
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.pulsar.client.impl.PulsarClientImpl
import org.apache.pulsar.client.impl.conf.{ClientConfigurationData, ProducerConfigurationData}
import org.apache.pulsar.common.util.DefaultPulsarSslFactory
import org.apache.xbean.asm9.tree.{ClassNode, MethodInsnNode}
import org.apache.xbean.asm9.{ClassReader, Opcodes}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.{ClientOptions, WriteOptions}
import io.github.pulsarspark.options.registry.{CheckedOptions, OptionRegistry, Scope}

/** `docs/develop/client-settings.md` says of each setting of Pulsar's client what shows its effect. */
final class ClientSettingsSuite extends UnitSuite {
  import ClientSettingsSuite._

  test("every setting of the client's classes has a row, and no other") {
    OptionRegistry.prefixes.map(_.prefix).filter(_.startsWith("pulsar.")).foreach(prefix =>
      assertEquals(rows.filter(_.prefix == prefix).map(_.name), ClientSettings.fields(prefix), prefix)
    )
  }

  test("numbers that are bounded are those of settings") {
    OptionRegistry.prefixes.foreach { prefix =>
      val names = if (prefix.fields.isEmpty) ClientSettings.fields(prefix.prefix) else prefix.fields
      assertEquals(prefix.counts.map(_.key.stripPrefix(prefix.prefix)).filterNot(names.contains), Nil)
    }
  }

  rows.groupBy(_.kind).toSeq.sortBy(_._1).foreach { case (kind, some) =>
    test(s"what rows say is so: $kind") {
      some.foreach(row => assertEquals(row.problem, None, s"${row.prefix}${row.name}"))
    }
  }

  test("settings that the client reads arrive in its configuration") {
    val client = ofClient("pulsar.client.").map(s => s"pulsar.client.$s" -> sample(classOf[ClientConfigurationData], s))
    val options = CheckedOptions(
      client.toMap + ("service.url"         -> "pulsar+ssl://127.0.0.1:1") + ("topic" -> "t") +
        ("pulsar.client.socks5ProxyAddress" -> "127.0.0.1:1"),
      Scope.BatchWrite,
      ClientSettings.fields
    )
    Using.resource(ClientFactory(ClientOptions(options))) { opened =>
      assertEquals(unchanged("pulsar.client.", opened.getConfiguration, new ClientConfigurationData), Nil)
      val producer = ofClient("pulsar.producer.").map(s => s -> sample(classOf[ProducerConfigurationData], s)).toMap
      val builder  = opened.newProducer().loadConf(ClientSettings.typed("pulsar.producer.", producer))
      val field    = builder.getClass.getDeclaredField("conf")
      field.setAccessible(true)
      assertEquals(unchanged("pulsar.producer.", field.get(builder), new ProducerConfigurationData), Nil)
    }
  }

  test("connections go through the proxy of socks5ProxyAddress") {
    Using.resource(new ServerSocket(0, 1, InetAddress.getLoopbackAddress)) { proxy =>
      proxy.setSoTimeout(30000)
      val options = Map("service.url" -> "pulsar://127.0.0.1:1", "topic" -> "t",
        "pulsar.client.socks5ProxyAddress" -> s"127.0.0.1:${proxy.getLocalPort}")
      val client = ClientFactory(ClientOptions(CheckedOptions(options, Scope.BatchRead, ClientSettings.fields)))
      try {
        client.getConnectionToServiceUrl
        assertEquals(Using.resource(proxy.accept())(_.getInputStream.read()), 5)
      } finally client.shutdown()
    }
  }

  test("values that would change nothing are refused") {
    def refused(setting: (String, String), more: (String, String)*) = {
      val options = Map("service.url" -> "pulsar://h:1", "topic" -> "t") ++ more + setting
      val error   = intercept[RuntimeException with PulsarError](
        WriteOptions(CheckedOptions(options, Scope.BatchWrite, ClientSettings.fields))
      )
      assert(error.getMessage.contains(s"`${setting._1}`"), error.getMessage)
      error.condition
    }
    val proxy = "pulsar.client.proxyServiceUrl" -> "pulsar+ssl://proxy:1"
    assertEquals(refused(proxy, "pulsar.client.proxyProtocol" -> "SNI"), "PULSAR_OPTION_WITHOUT_EFFECT")
    assertEquals(refused("pulsar.producer.messageRoutingMode" -> "CustomPartition"), "PULSAR_OPTION_INVALID")
    assertEquals(refused("pulsar.producer.batchingEnabled" -> "TRUE", "pulsar.producer.chunkingEnabled" -> "true"),
      "PULSAR_OPTION_INVALID")
  }

  test("producers that chunk messages do not batch them") {
    def batching(settings: (String, String)*) = WriteOptions(
      CheckedOptions(Map("service.url" -> "pulsar://h:1", "topic" -> "t") ++ settings, Scope.BatchWrite,
        ClientSettings.fields)
    ).producer.get("batchingEnabled")
    val chunking = "pulsar.producer.chunkingEnabled" -> "true"
    assertEquals(batching(chunking), Some("false"))
    assertEquals(batching(chunking, "pulsar.producer.batchingEnabled" -> "false"), Some("false"))
    assertEquals(batching("pulsar.producer.chunkingEnabled" -> "false"), None)
    assertEquals(batching(), None)
  }

  private def ofClient(prefix: String) = rows.filter(r => r.prefix == prefix && r.kind == "client").map(_.name)

  private def unchanged(prefix: String, found: AnyRef, default: AnyRef) =
    ofClient(prefix).filter(name =>
      getter(found.getClass, name).invoke(found) == getter(default.getClass, name).invoke(default)
    )
}

private object ClientSettingsSuite {

  /** A setting and what shows its effect. */
  final case class Row(prefix: String, name: String, shown: String) {

    val kind: String = if (shown.startsWith("`")) "test" else shown.takeWhile(_ != ':')

    private def argument = shown.stripPrefix(s"$kind:").trim.stripPrefix("`").stripSuffix("`")

    /** Reason why the row is wrong; None if it is right. */
    def problem: Option[String] = kind match {
      case "refused" => Option.unless(refusal.isDefined)("it is not refused")
      case "option"  => Option.unless(OptionRegistry.alias(prefix + name).exists(a =>
          argument == a.target.getOrElse("always")
        ))("no such alias")
      case _ if refusal.isDefined => refusal
      case "client"               => Option.unless(calls(argument)(getter(configuration(prefix), name).getName))(
          s"$argument does not read it"
        )
      case "test" =>
        val files = Tests.map(root.resolve(_).resolve(argument)).filter(Files.exists(_))
        Option.unless(files.exists(Files.readString(_).contains(name)))(s"$argument does not mention it")
      case other => Some(s"unknown kind $other")
    }

    private def refusal: Option[String] = {
      val options = Map("service.url" -> "pulsar://h:1", "topic" -> "t", prefix + name -> "x")
      val scope   = if (prefix == "pulsar.producer.") Scope.BatchWrite else Scope.BatchRead
      try { CheckedOptions(options, scope, ClientSettings.fields); None }
      catch { case e: PulsarError => Some(e.condition).filter(Refusals) }
    }
  }

  final class OtherSslFactory extends DefaultPulsarSslFactory

  private val Refusals =
    Set("PULSAR_OPTION_MANAGED", "PULSAR_OPTION_WITHOUT_EFFECT", "PULSAR_OPTION_UNSUPPORTED")

  private val Tests = Seq("integration", "connector/src/test/scala/io/github/pulsarspark")
  private val Page  = "docs/develop/client-settings.md"

  /** Root of the sources, from any folder in which the build starts the tests. */
  private val root =
    Iterator.iterate(Path.of("").toAbsolutePath)(_.getParent).find(f => Files.exists(f.resolve(Page))).get

  val rows: Seq[Row] = {
    val sections = Files.readString(root.resolve(Page)).split("\n## ").toSeq.tail
    for (
      section <- sections; Array(_, name, shown, _*) <- section.linesIterator.map(_.split('|')) if name.contains("`")
    )
      yield Row(s"${section.linesIterator.next()}.", name.trim.stripPrefix("`").stripSuffix("`"), shown.trim)
  }

  private def configuration(prefix: String): Class[_] =
    if (prefix == "pulsar.client.") classOf[ClientConfigurationData] else classOf[ProducerConfigurationData]

  def getter(of: Class[_], name: String): java.lang.reflect.Method =
    Seq("get", "is").map(_ + name.capitalize).flatMap(g => of.getMethods.find(m => m.getName == g)).head

  /** Names of the methods of configurations that a class of the client calls. */
  private def calls(className: String): Set[String] = {
    val folder = s"${classOf[PulsarClientImpl].getPackageName.replace('.', '/')}/"
    val node   = new ClassNode(Opcodes.ASM9)
    Using.resource(classOf[PulsarClientImpl].getResourceAsStream(s"/$folder$className.class"))(
      new ClassReader(_).accept(node, ClassReader.SKIP_DEBUG)
    )
    (for (method <- node.methods.asScala; instruction <- method.instructions.asScala) yield instruction).collect {
      case call: MethodInsnNode if call.owner.endsWith("ConfigurationData") => call.name
    }.toSet
  }

  /** Another value than the client's own. */
  def sample(of: Class[_], name: String): String = {
    val method  = getter(of, name)
    val default = method.invoke(of.getDeclaredConstructor().newInstance())
    (method.getReturnType, default) match {
      case (_, flag: java.lang.Boolean)                                   => (!flag.booleanValue).toString
      case (_, number: Number)                                            => (number.longValue + 1).toString
      case (t, _) if t.isEnum                                             => t.getEnumConstants.last.toString
      case (t, _) if t == classOf[java.util.Map[_, _]]                    => """{"a": "b"}"""
      case (t, _) if classOf[java.util.Collection[_]].isAssignableFrom(t) => """["127.0.0.1:1"]"""
      case _ if name == "socks5ProxyAddress"                              => "127.0.0.1:1"
      case _ if name.endsWith("Path")                                     => root.resolve(Page).toString
      case _ if name == "sslFactoryPlugin"                                => classOf[OtherSslFactory].getName
      case _ if name.endsWith("Url")                                      => "pulsar+ssl://127.0.0.1:1"
      case _                                                              => s"x-$name"
    }
  }
}
